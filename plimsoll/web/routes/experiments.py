"""Experiments written in the browser: checked while they are written, and started."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.proposal.proposed_experiment import proposed_experiment
from plimsoll.benchmark.proposal.survey import survey_host
from plimsoll.errors import InputError, PlimsollError
from plimsoll.record.index.run_notes import parse_tag
from plimsoll.text.given_path import read_regular_file
from plimsoll.text.named_program import AllowedPrograms
from plimsoll.web.experiments.experiment_text import experiment_of, file_in, look_at, read_text
from plimsoll.web.experiments.form_fields import form_fields, with_value
from plimsoll.web.pages.run_rows import run_address
from plimsoll.web.routes.service import body_of, page, run_of, service_of, text_in

_MAX_MIB = 4


async def write(request: Request) -> Response:
    """The form and the text: of an experiment that lies here, of a run, or for this host."""
    folder = service_of(request).settings.experiments_root
    names = await run_in_threadpool(_files, folder)
    name = request.query_params.get("file", "")
    if name and name not in names:
        raise InputError("there is no such experiment", where="file", remedy="choose one below")
    text = await run_in_threadpool(_text, folder / name if name else None)
    content = {"text": text, "names": names, "name": name, "fields": form_fields()}
    return page(request, "experiment.html.j2", {**content, "folder": str(folder)})


async def again(request: Request) -> Response:
    """The same with the text of a run's experiment, every default written out."""
    entry = await run_of(request)
    text = await run_in_threadpool(
        lambda: read_regular_file(entry.run.experiment, _MAX_MIB, "").decode()
    )
    folder = service_of(request).settings.experiments_root
    names = await run_in_threadpool(_files, folder)
    content = {"text": text, "names": names, "name": "", "fields": form_fields()}
    return page(request, "experiment.html.j2", {**content, "folder": str(folder)})


async def check(request: Request) -> Response:
    """Mistakes, the form's values and, with `plan`, what a run would do."""
    sent = await body_of(request)
    plan = sent.get("plan") is True
    text, file, programs = text_in(sent, "text"), _file(request, sent), _programs(request)
    found = await run_in_threadpool(look_at, text, file, programs, plan=plan)
    return JSONResponse(found)


async def change(request: Request) -> Response:
    """The text with one field of the form set."""
    sent = await body_of(request)
    path = text_in(sent, "path")
    if path not in {field.path for field in form_fields()}:
        raise InputError("is not a field of the form", where=path, remedy="reload the page")
    text = text_in(sent, "text")
    file, programs = _file(request, sent), _programs(request)
    document = await run_in_threadpool(read_text, text, file, programs)
    return JSONResponse({"text": with_value(document, text, path, text_in(sent, "value"))})


async def start(request: Request) -> Response:
    """Begin a run of the text; the address of its page."""
    sent = await body_of(request)
    service = service_of(request)
    tags = [f"{k}={v}" for k, v in map(parse_tag, text_in(sent, "tags").split())]
    text, file, programs = text_in(sent, "text"), _file(request, sent), _programs(request)
    experiment = await run_in_threadpool(experiment_of, text, file, programs)
    run_id = await run_in_threadpool(service.children.start, experiment, tags)
    return JSONResponse({"address": run_address(run_id)})


async def schema(_: Request) -> Response:
    """The JSON Schema of experiments, for editors."""
    return JSONResponse(await run_in_threadpool(_schema))


@cache
def _schema() -> dict[str, object]:
    return Experiment.model_json_schema()


def _file(request: Request, sent: Mapping[str, Any]) -> Path:
    return file_in(service_of(request).settings.experiments_root, text_in(sent, "file"))


def _programs(request: Request) -> AllowedPrograms:
    return service_of(request).settings.programs


def _files(folder: Path) -> list[str]:
    """The YAML files right in the folder, by name."""
    try:
        found = [each.name for each in folder.iterdir() if each.suffix in (".yaml", ".yml")]
    except OSError:
        return []
    return sorted(name for name in found if not name.startswith("."))


def _text(path: Path | None) -> str:
    """That of a file; without one an experiment for this host."""
    if path is None:
        try:
            return proposed_experiment(survey_host())
        except PlimsollError as error:
            return f"# No experiment can be proposed for this host: {error}\n"
    try:
        return read_regular_file(path, _MAX_MIB, "split it").decode()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"cannot be read: {error}", where=path.name, remedy="choose another"
        ) from None


ROUTES = (
    Route("/experiments/new", write),
    Route("/experiments/check", check, methods=["POST"]),
    Route("/experiments/change", change, methods=["POST"]),
    Route("/experiments/start", start, methods=["POST"]),
    Route("/experiments/schema.json", schema),
    Route("/runs/{id:run}/again", again),
)
