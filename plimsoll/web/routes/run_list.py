"""The list of runs."""

from __future__ import annotations

from datetime import UTC, datetime

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plimsoll.errors import PlimsollError
from plimsoll.record.index.find import in_order, read_index
from plimsoll.web.pages.run_rows import (
    SORTS,
    STATES,
    VERDICTS,
    FilterForm,
    known_values,
    run_row,
)
from plimsoll.web.routes.service import page, service_of

# Beyond that a page is slow to open; a filter finds the rest.
_MAX_ROWS = 500


async def list_runs(request: Request) -> Response:
    """All runs that the filter takes, the latest first."""
    root = service_of(request).settings.runs_root
    form = FilterForm.of(request.query_params)
    mistake: PlimsollError | None = None
    try:
        entries = await run_in_threadpool(lambda: list(read_index(root)))
    except PlimsollError as error:
        entries, mistake = [], error
    try:
        taken = in_order(filter(form.selection().takes, entries), form.sort)
    except PlimsollError as error:
        taken, mistake = [], error
    now = datetime.now(UTC)
    content = {
        "form": form,
        "rows": [run_row(entry, now) for entry in taken[:_MAX_ROWS]],
        "taken": len(taken),
        "in_all": len(entries),
        "most": _MAX_ROWS,
        "known": known_values(entries),
        "states": STATES,
        "verdicts": VERDICTS,
        "sorts": SORTS,
        "mistake": mistake,
    }
    return page(request, "runs.html.j2", content)


ROUTES = (Route("/", list_runs),)
