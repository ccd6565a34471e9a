"""Questions to the records of several runs: comparison, trend and metrics."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plimsoll.errors import InputError, PlimsollError
from plimsoll.record.index.find import read_index
from plimsoll.record.index.run_entry import RunEntry
from plimsoll.record.query import MEASUREMENT
from plimsoll.web.pages.comparison_page import (
    ComparisonPage,
    common_tags,
    comparison_page,
    sides_of,
)
from plimsoll.web.pages.metric_address import MetricAddress
from plimsoll.web.pages.metric_page import MetricPage, metric_page
from plimsoll.web.pages.run_rows import known_values, run_address
from plimsoll.web.pages.trend_page import ORDERS, TrendForm, TrendPage, release_tags, trend_page
from plimsoll.web.routes.service import page, service_of
from plimsoll.web.security.run_names import named_run

_MAX_RUNS = 200


async def compare(request: Request) -> Response:
    """The runs of the address against the first of them, or the values of a tag they carry."""
    ids, tag = request.query_params.getlist("run"), request.query_params.get("by", "")
    entries = await run_in_threadpool(_entries, request, ids)
    found: ComparisonPage | None = None
    mistake: PlimsollError | None = None
    try:
        found = await run_in_threadpool(lambda: comparison_page(sides_of(entries, tag)))
    except PlimsollError as error:
        mistake = error
    content = {
        "ids": [entry.run_id for entry in entries],
        "addresses": {entry.run_id: run_address(entry.run_id) for entry in entries},
        "tag": tag,
        "tags": common_tags(entries),
        "found": found,
        "mistake": mistake,
    }
    return page(request, "compare.html.j2", content)


async def trend(request: Request) -> Response:
    """Figures of the runs of the address, or of all that its filter takes, over releases."""
    form = TrendForm.of(request.query_params)
    root = service_of(request).settings.runs_root
    entries: list[RunEntry] = []
    taken: list[RunEntry] = []
    addresses: dict[str, str] = {}
    found: TrendPage | None = None
    mistake: PlimsollError | None = None
    try:
        if form.runs:
            entries = await run_in_threadpool(_entries, request, form.runs)
        else:
            entries = await run_in_threadpool(lambda: list(read_index(root)))
        taken = form.taken(entries)
        addresses = {entry.run_id: run_address(entry.run_id) for entry in taken}
        found = await run_in_threadpool(trend_page, taken, form, addresses)
    except PlimsollError as error:
        mistake = error
    content = {
        "form": form,
        "addresses": addresses,
        "known": known_values(entries),
        "release_tags": release_tags(entries),
        "orders": ORDERS,
        "found": found,
        "mistake": mistake,
    }
    return page(request, "trend.html.j2", content, found.figures if found else ())


async def metrics(request: Request) -> Response:
    """The metric explorer."""
    address = MetricAddress.of(request.query_params.multi_items())
    entries = await run_in_threadpool(_entries, request, address.runs)
    if not entries:
        raise InputError("no run is named", where="metrics", remedy="open it from a run's page")
    found = await run_in_threadpool(_metrics, entries, address)
    content = {
        "found": found,
        "address": address,
        "addresses": {entry.run_id: run_address(entry.run_id) for entry in entries},
        "periods": await run_in_threadpool(_periods, entries),
    }
    figures = (found.figure,) if found.figure else ()
    return page(request, "metrics.html.j2", content, figures)


def _entries(request: Request, ids: list[str] | tuple[str, ...]) -> list[RunEntry]:
    """The runs of these ids, the earliest first unless the address has an order of its own."""
    if len(ids) > _MAX_RUNS:
        raise InputError("too many runs at once", where="run", remedy=f"take up to {_MAX_RUNS}")
    root = service_of(request).settings.runs_root
    entries = [named_run(root, each) for each in dict.fromkeys(ids)]
    if "ordered" in request.query_params:
        return entries
    return sorted(entries, key=lambda entry: (entry.began_unix_ns or 0, entry.run_id))


def _metrics(entries: list[RunEntry], address: MetricAddress) -> MetricPage:
    return metric_page([entry.run for entry in entries], address)


def _periods(entries: list[RunEntry]) -> list[str]:
    """The trials that any of the runs has metrics of, and what stands for several."""
    trials = {
        path.name.split(".", 1)[0]
        for entry in entries
        for path in entry.run.metrics.glob("trial-*.*")
    }
    return [MEASUREMENT, "search", "validation", "all", *sorted(trials)]


ROUTES = (Route("/compare", compare), Route("/trend", trend), Route("/metrics", metrics))
