"""The process that listens: until SIGINT or SIGTERM, and leaving nothing."""

from __future__ import annotations

import socket
from types import FrameType

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware

from plimsoll.errors import PlimsollError
from plimsoll.web.endpoint import ServeSettings
from plimsoll.web.experiments.child_runs import ChildRuns
from plimsoll.web.quiet_server import QuietServer, quiet_config
from plimsoll.web.routes import (
    assets,
    entry,
    experiments,
    live_events,
    records,
    run_list,
    run_pages,
)
from plimsoll.web.routes.service import WebService, missing, refused
from plimsoll.web.security.access import Access
from plimsoll.web.security.guard import Guard


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


# The application: its routes behind the guard.
def make_application(settings: ServeSettings, access: Access) -> Starlette:
    """The ASGI application; `app.state.service` is what its routes share."""
    modules = (run_list, run_pages, live_events, records, experiments, assets, entry)
    app = Starlette(
        routes=[route for module in modules for route in module.ROUTES],
        middleware=[
            Middleware(Guard, settings=settings, access=access, login_page=entry.login_page)
        ],
        exception_handlers={PlimsollError: refused, 404: missing},
    )
    app.state.service = WebService(
        settings, access, ChildRuns(settings.runs_root, settings.programs)
    )
    return app
