"""Both servers over one session: until SIGINT or SIGTERM, and leaving nothing."""

from __future__ import annotations

import socket
from collections.abc import Callable

from plimsoll.remote.otg.model.published import messages
from plimsoll.remote.otg.server.grpc_service import make_server
from plimsoll.remote.otg.server.rest import make_application
from plimsoll.remote.otg.server.settings import OtgSettings
from plimsoll.remote.otg.session.session import OtgSession
from plimsoll.web.quiet_server import QuietServer, quiet_config


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
    config = quiet_config(
        make_application(session, settings), certificate=settings.certificate, key=settings.key
    )
    try:
        if server is not None:
            server.start()
        ready()
        QuietServer(config).run(sockets=[listener])
    finally:
        if server is not None:
            server.stop(grace=None).wait()
        session.close()
