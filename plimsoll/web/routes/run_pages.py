"""One run: its page, its report, its files, and what can be done with it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import BinaryIO
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from plimsoll.errors import InputError
from plimsoll.record.index.run_entry import RunEntry
from plimsoll.record.index.run_paths import part_paths
from plimsoll.record.methods.registry import METHODS
from plimsoll.report.registry import report_text
from plimsoll.text.counted import size_text
from plimsoll.web.experiments.child_runs import interrupt_run
from plimsoll.web.live.live_charts import live_figures_drawn
from plimsoll.web.pages.run_rows import run_address, run_row
from plimsoll.web.routes.service import page, run_of, service_of
from plimsoll.web.security.guard import REPORT_POLICY
from plimsoll.web.security.run_names import artefacts, open_artefact

_CHUNK_BYTES = 2**18
_REPORT = "report.html"


async def show(request: Request) -> Response:
    """A running run as it goes on; of any other its report, as far as there is one."""
    entry = await run_of(request)
    content = _content(entry)
    if entry.state == "damaged":
        return page(request, "damaged.html.j2", content)
    if entry.state != "running":
        return page(request, "report.html.j2", content)
    parts = await run_in_threadpool(_parts, entry)
    return page(request, "live.html.j2", {**content, "run_parts": parts}, live_figures_drawn())


async def report(request: Request) -> Response:
    """The report, which stands in a frame of the run's page."""
    entry = await run_of(request)
    text = await run_in_threadpool(_report, entry)
    return HTMLResponse(text, headers={"content-security-policy": REPORT_POLICY})


async def files(request: Request) -> Response:
    """All files of the run."""
    entry = await run_of(request)
    found = await run_in_threadpool(artefacts, entry.run.path)
    rows = [
        (each.name, run_address(entry.run_id, f"files/{quote(each.name)}"), size_text(each.bytes))
        for each in found
    ]
    total = size_text(sum(each.bytes for each in found))
    return page(request, "files.html.j2", {**_content(entry), "files": rows, "total": total})


async def file(request: Request) -> Response:
    """One file, to be saved: never shown, whatever is in it."""
    entry = await run_of(request)
    name = request.path_params["name"]
    content = await run_in_threadpool(open_artefact, entry.run.path, name)
    saved_as = quote(f"{PurePosixPath(entry.run_id).name}-{name.replace('/', '-')}")
    return StreamingResponse(
        _chunks(content),
        media_type="application/octet-stream",
        headers={"content-disposition": f"attachment; filename*=UTF-8''{saved_as}"},
    )


async def stop(request: Request) -> Response:
    """End a run as Ctrl-C would."""
    entry = await run_of(request)
    await run_in_threadpool(interrupt_run, entry.run)
    return JSONResponse({"address": run_address(entry.run_id)})


async def resume(request: Request) -> Response:
    """Go on with a run that was cut short."""
    entry = await run_of(request)
    await run_in_threadpool(service_of(request).children.resume, entry)
    return JSONResponse({"address": run_address(entry.run_id)})


def _content(entry: RunEntry) -> dict[str, object]:
    row = run_row(entry, datetime.now(UTC))
    method = METHODS.get(row.method)
    return {
        "run": row,
        "notes": [note.text for note in entry.notes.notes],
        "trials": entry.summary.trials if entry.summary else 0,
        "resumable": entry.state == "stopped" and method is not None and not method.one_trial,
        "go_on": f"plimsoll {method.command} --resume {entry.run.path}" if method else "",
    }


def _parts(entry: RunEntry) -> list[tuple[str, str]]:
    """Of a matrix run its parts so far, each with its address."""
    below = [part.relative_to(entry.run.path).as_posix() for part in part_paths(entry.run.path)]
    return [(name, run_address(f"{entry.run_id}/{name}")) for name in below]


def _report(entry: RunEntry) -> str:
    """The file of a run that has come to its end; else, or without it, made from the record."""
    if entry.state == "finished":
        try:
            with open_artefact(entry.run.path, _REPORT) as written:
                return written.read().decode(errors="replace")
        except InputError:
            pass
    return report_text(entry.run)


def _chunks(content: BinaryIO) -> Iterator[bytes]:
    with content:
        while chunk := content.read(_CHUNK_BYTES):
            yield chunk


ROUTES = (
    Route("/runs/{id:run}/", show),
    Route("/runs/{id:run}/report", report),
    Route("/runs/{id:run}/files/", files),
    Route("/runs/{id:run}/files/{name:path}", file),
    Route("/runs/{id:run}/stop", stop, methods=["POST"]),
    Route("/runs/{id:run}/resume", resume, methods=["POST"]),
)
