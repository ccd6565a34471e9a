"""The application: its routes behind the guard."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.middleware import Middleware

from plimsoll.errors import PlimsollError
from plimsoll.web.experiments.child_runs import ChildRuns
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
from plimsoll.web.serve_settings import ServeSettings


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
