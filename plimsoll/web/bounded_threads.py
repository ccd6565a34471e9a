"""A bound on a server that answers each client in a thread of its own."""

from __future__ import annotations

import threading
from typing import Any

MOST_CLIENTS = 16
# Without a byte of a request.
LONGEST_SILENCE_S = 10.0


def bound_threads(server: Any) -> None:
    """Hang up on clients beyond some, and on those that send nothing.

    `server` is of socketserver's ThreadingMixIn, and its handlers are StreamRequestHandlers.
    """
    places = threading.BoundedSemaphore(MOST_CLIENTS)
    answer = server.process_request_thread

    def answer_in_place(request: Any, address: Any) -> None:
        if not places.acquire(blocking=False):
            server.shutdown_request(request)
            return
        try:
            answer(request, address)
        finally:
            places.release()

    server.process_request_thread = answer_in_place
    bounds = {"timeout": LONGEST_SILENCE_S}
    server.RequestHandlerClass = type("_Handler", (server.RequestHandlerClass,), bounds)
