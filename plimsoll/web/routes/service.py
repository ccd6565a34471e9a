"""What all routes share, and how they answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from starlette.concurrency import run_in_threadpool
from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from plimsoll.errors import InputError, PlimsollError
from plimsoll.record.index.run_entry import RunEntry
from plimsoll.report.figures.figure import Figure
from plimsoll.text.plain_text import plain_text
from plimsoll.web.endpoint import ServeSettings
from plimsoll.web.experiments.child_runs import ChildRuns
from plimsoll.web.live.live_feed import LiveFeeds
from plimsoll.web.pages.rendering import render
from plimsoll.web.security.access import Access
from plimsoll.web.security.run_names import named_run

_MAX_BODY_BYTES = 4 * 2**20


@dataclass(frozen=True)
class WebService:
    """One server's."""

    settings: ServeSettings
    access: Access
    children: ChildRuns
    feeds: LiveFeeds = field(default_factory=LiveFeeds)


class _RunConvertor(Convertor[str]):
    """A run's id in an address: of a folder's run, or of a part of a matrix run."""

    regex = r"[^/]+(?:/iteration-\d{1,6}/sample-\d{1,6})?"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


# {id:run} in the routes' paths.
register_url_convertor("run", _RunConvertor())


def service_of(request: Request) -> WebService:
    """The server's."""
    return cast(WebService, request.app.state.service)


async def run_of(request: Request) -> RunEntry:
    """The run that the address names. Raises InputError where there is none."""
    root = service_of(request).settings.runs_root
    return await run_in_threadpool(named_run, root, request.path_params["id"])


def page(
    request: Request,
    template: str,
    content: Mapping[str, object],
    figures: Sequence[Figure] = (),
    status: int = 200,
) -> Response:
    """A page of the application."""
    settings = service_of(request).settings
    common = {
        "runs_root": plain_text(str(settings.runs_root)),
        "path": request.url.path,
    }
    return HTMLResponse(render(template, {**common, **content}, figures), status_code=status)


async def body_of(request: Request) -> Mapping[str, Any]:
    """The JSON object that was sent. Raises InputError for anything else."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise _no_object()
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > _MAX_BODY_BYTES:
            raise InputError("is too long", where="the request", remedy="send less")
    try:
        sent = json.loads(content)
    except (ValueError, RecursionError):
        raise _no_object() from None
    if not isinstance(sent, dict):
        raise _no_object()
    return sent


def text_in(sent: Mapping[str, Any], name: str) -> str:
    """A text of what was sent; empty where it is left out. Raises InputError."""
    value = sent.get(name, "")
    if not isinstance(value, str):
        raise InputError("is not a text", where=name, remedy="reload the page")
    return value


async def refused(request: Request, error: Exception) -> Response:
    """What is wrong, where and what to do: as JSON to scripts, as a page to people."""
    assert isinstance(error, PlimsollError)  # noqa: S101 - registered for these alone
    status = 400 if isinstance(error, InputError) else 500
    if request.method == "GET" and "id" in request.path_params and isinstance(error, InputError):
        status = 404
    mistake = {
        "where": plain_text(error.where),
        "message": plain_text(error.message),
        "remedy": plain_text(error.remedy),
    }
    if request.method != "GET":
        return JSONResponse({"mistakes": [mistake]}, status_code=status)
    return page(request, "error.html.j2", {"mistake": mistake, "status": status}, status=status)


async def missing(request: Request, _: Exception) -> Response:
    """For an address that leads nowhere."""
    mistake = {
        "where": plain_text(request.url.path, 80),
        "message": "there is no such page",
        "remedy": "go back to the list of runs",
    }
    return page(request, "error.html.j2", {"mistake": mistake, "status": 404}, status=404)


def _no_object() -> InputError:
    return InputError("is not a JSON object", where="the request", remedy="reload the page")
