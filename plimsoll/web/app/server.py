"""The process that listens: until SIGINT or SIGTERM, and leaving nothing."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn
from starlette.applications import Starlette

from plimsoll.errors import MachineError
from plimsoll.web.app.application import make_application
from plimsoll.web.routes.service import WebService
from plimsoll.web.serve_settings import ServeSettings

_OPTION = "--listen"
_BACKLOG = 128
# How often it wakes up to see whether it is to end. uvicorn's own tenth of a second is ten visits
# a second to CPUs that may be polled.
_TICK_S = 1.0
# Downloads under way are cut off after that.
_GRACE_S = 3


class _Server(uvicorn.Server):
    """Ends the streams of live pages, which would hold it up, with the first signal."""

    def __init__(self, config: uvicorn.Config, service: WebService) -> None:
        super().__init__(config)
        self._service = service

    async def main_loop(self) -> None:
        """Until the signal, asleep but for requests and a look each second."""
        while not await self.on_tick(0):
            await asyncio.sleep(_TICK_S)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """As uvicorn does, which closes what is idle and waits for the rest."""
        self._service.feeds.closing.set()
        super().handle_exit(sig, frame)


@contextmanager
def listening(settings: ServeSettings) -> Iterator[socket.socket]:
    """A socket that listens there, for the length of a `with`.

    Raises MachineError where that cannot be.
    """
    endpoint = settings.endpoint
    family = socket.AF_INET6 if ":" in endpoint.address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((endpoint.address, endpoint.port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise MachineError(
            f"cannot listen on {endpoint.address}, port {endpoint.port}: {error.strerror}",
            where=_OPTION,
            remedy="choose another port, or end what listens on it",
        ) from error
    with listener:
        yield listener


def serve_until_signal(settings: ServeSettings, listener: socket.socket) -> None:
    """Answer until SIGINT or SIGTERM, which is then raised anew for its handler of before."""
    app: Starlette = make_application(settings)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        date_header=False,
        # A Host or a client's address that a proxy claims is not believed.
        proxy_headers=False,
        timeout_graceful_shutdown=_GRACE_S,
    )
    _Server(config, app.state.service).run(sockets=[listener])
