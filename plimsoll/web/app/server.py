"""The process that listens: until SIGINT or SIGTERM, and leaving nothing."""

from __future__ import annotations

import socket
from types import FrameType

import uvicorn
from starlette.applications import Starlette

from plimsoll.web.app.application import make_application
from plimsoll.web.quiet_server import QuietServer, quiet_config
from plimsoll.web.routes.service import WebService
from plimsoll.web.security.access import Access
from plimsoll.web.serve_settings import ServeSettings


class _Server(QuietServer):
    """Ends the streams of live pages, which would hold it up, with the first signal."""

    def __init__(self, config: uvicorn.Config, service: WebService) -> None:
        super().__init__(config)
        self._service = service

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """As uvicorn does, which closes what is idle and waits for the rest."""
        self._service.feeds.closing.set()
        super().handle_exit(sig, frame)


def serve_until_signal(settings: ServeSettings, access: Access, listener: socket.socket) -> None:
    """Answer until SIGINT or SIGTERM, which is then raised anew for its handler of before."""
    app: Starlette = make_application(settings, access)
    _Server(quiet_config(app), app.state.service).run(sockets=[listener])
