"""Scripts and styles, out of this package alone."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plimsoll.report.parts.page import chart_library, packaged

_CSS, _JS, _SVG = "text/css", "text/javascript", "image/svg+xml"


def _own(name: str) -> str:
    return files("plimsoll.web").joinpath("static", name).read_text(encoding="utf-8")


# By name, the type and where the text comes from: two are the report's own.
_ASSETS: Mapping[str, tuple[str, Callable[[], str]]] = {
    "report.css": (_CSS, lambda: packaged("report.css")),
    "draw.js": (_JS, lambda: packaged("draw.js")),
    "charts.js": (_JS, chart_library),
    "app.css": (_CSS, lambda: _own("app.css")),
    "app.js": (_JS, lambda: _own("app.js")),
    "live.js": (_JS, lambda: _own("live.js")),
    "experiment.js": (_JS, lambda: _own("experiment.js")),
    "mark.svg": (_SVG, lambda: _own("mark.svg")),
}


async def asset(request: Request) -> Response:
    """One of them. Its address has its version, so that a browser keeps it."""
    name = request.path_params["name"]
    if name not in _ASSETS:
        raise HTTPException(404)
    content = await run_in_threadpool(_compressed, name)
    return Response(
        content,
        media_type=_ASSETS[name][0],
        headers={"content-encoding": "gzip", "cache-control": "private, max-age=31536000"},
    )


@cache
def _compressed(name: str) -> bytes:
    return gzip.compress(_ASSETS[name][1]().encode(), mtime=0)


ROUTES = (Route("/assets/{name}", asset),)
