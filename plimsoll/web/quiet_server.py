"""An HTTP server next to polled CPUs: it sleeps but for requests, and leaves nothing."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from starlette.applications import Starlette

from plimsoll.errors import MachineError
from plimsoll.web.endpoint import ListenEndpoint
from plimsoll.web.peer import PeerProtocol

_OPTION = "--listen"
_BACKLOG = 128
# How often it wakes up to see whether it is to end. uvicorn's own tenth of a second is ten visits
# a second to CPUs that may be polled.
_TICK_S = 1.0
# What is under way is cut off after that.
_GRACE_S = 3


class QuietServer(uvicorn.Server):
    """Asleep but for requests and a look each second."""

    async def main_loop(self) -> None:
        """Until the signal."""
        while not await self.on_tick(0):
            await asyncio.sleep(_TICK_S)


def quiet_config(
    application: Starlette, *, certificate: Path | None = None, key: Path | None = None
) -> uvicorn.Config:
    """Of a server that says nothing of itself and logs warnings only; with TLS by a certificate."""
    return uvicorn.Config(
        application,
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        http=PeerProtocol,
        server_header=False,
        date_header=False,
        # A Host or a client's address that a proxy claims is not believed.
        proxy_headers=False,
        timeout_graceful_shutdown=_GRACE_S,
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )


@contextmanager
def listening(endpoint: ListenEndpoint) -> Iterator[socket.socket]:
    """A socket that listens there, for the length of a `with`.

    Raises MachineError where that cannot be.
    """
    family = socket.AF_INET6 if ":" in endpoint.address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((endpoint.address, endpoint.port))
            listener.listen(_BACKLOG)
        except OSError as error:
            raise MachineError(
                f"cannot listen on {endpoint.address}, port {endpoint.port}: {error.strerror}",
                where=_OPTION,
                remedy="choose another port, or end what listens on it",
            ) from error
        yield listener
