"""Both servers over one session: until SIGINT or SIGTERM, and leaving nothing."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn

from plimsoll.errors import MachineError
from plimsoll.remote.otg.model.published import messages
from plimsoll.remote.otg.server.grpc_service import make_server
from plimsoll.remote.otg.server.rest import make_application
from plimsoll.remote.otg.server.settings import OtgSettings
from plimsoll.remote.otg.session.session import OtgSession

_BACKLOG = 16
# uvicorn's own tenth of a second is ten visits a second to CPUs that may be polled.
_TICK_S = 1.0
_GRACE_S = 3


class _Server(uvicorn.Server):
    """Asleep but for requests and a look each second."""

    async def main_loop(self) -> None:
        """Until the signal."""
        while not await self.on_tick(0):
            await asyncio.sleep(_TICK_S)


@contextmanager
def listening(settings: OtgSettings) -> Iterator[socket.socket]:
    """REST's socket, for the length of a `with`. Raises MachineError where it cannot be."""
    endpoint = settings.rest
    family = socket.AF_INET6 if ":" in endpoint.address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((endpoint.address, endpoint.port))
            listener.listen(_BACKLOG)
        except OSError as error:
            raise MachineError(
                f"cannot listen on {endpoint.address}, port {endpoint.port}: {error.strerror}",
                where="--listen",
                remedy="choose another port, or end what listens on it",
            ) from error
        yield listener


def serve_until_signal(
    session: OtgSession,
    settings: OtgSettings,
    listener: socket.socket,
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Answer until SIGINT or SIGTERM, which is then raised anew for the handler before it.

    `ready` is called when both are there.
    """
    # Seconds of generated code, before the first client waits for it.
    messages()
    server = make_server(session, settings) if settings.grpc_port is not None else None
    config = uvicorn.Config(
        make_application(session, settings),
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_GRACE_S,
        ssl_certfile=settings.certificate,
        ssl_keyfile=settings.key,
    )
    try:
        if server is not None:
            server.start()
        ready()
        _Server(config).run(sockets=[listener])
    finally:
        if server is not None:
            server.stop(grace=None).wait()
        session.close()
