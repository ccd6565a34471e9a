"""An experiment as text in a browser: its mistakes with their lines, or what a run would do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from plimsoll.benchmark.check.check import check_document
from plimsoll.benchmark.experiment.experiment import (
    Experiment,
    completed_document,
    experiment_in,
)
from plimsoll.errors import InputError, PlimsollError
from plimsoll.record.results.check_result import PlannedRun
from plimsoll.text.document import Document, parse_document
from plimsoll.text.mistakes import each_mistake
from plimsoll.text.named_program import AllowedPrograms
from plimsoll.text.plain_text import plain_text
from plimsoll.text.units import format_duration, format_pps
from plimsoll.web.experiments.form_fields import form_values

# The name under which messages know a text that is of no file, and the run is called after.
FILE = "experiment.yaml"
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,100}\.ya?ml")
_MAX_CHARACTERS = 4_000_000


@dataclass(frozen=True, slots=True)
class TextMistake:
    """One mistake; `line` is from 1, None where it is not one of the text's."""

    line: int | None
    where: str
    message: str
    remedy: str


def file_in(folder: Path, name: str) -> Path:
    """Where the text lies, or would: a plain name that is none is that of no file."""
    return folder / (name if _FILE_NAME.fullmatch(name) else FILE)


def read_text(text: str, file: Path, programs: AllowedPrograms) -> Document:
    """The document; what it names lies next to `file`, and it may have `programs` run.

    Raises InputError.
    """
    if len(text) > _MAX_CHARACTERS:
        raise InputError(
            "is too long", where=file.name, remedy="put captures and profiles into files"
        )
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return replace(parse_document(file, plain), allowed=programs)


def experiment_of(text: str, file: Path, programs: AllowedPrograms) -> Experiment:
    """The experiment. Raises InputError listing every mistake."""
    return experiment_in(*completed_document(read_text(text, file, programs)))


def look_at(text: str, file: Path, programs: AllowedPrograms, *, plan: bool) -> dict[str, Any]:
    """Mistakes, the form's values, and with `plan` what the machine lacks and a run would do.

    Without `plan` nothing but the text and the files that it names is looked at: quick enough
    for every pause in typing.
    """
    values: dict[str, str] = {}
    run: PlannedRun | None = None
    errors: Sequence[PlimsollError] = ()
    try:
        document = read_text(text, file, programs)
        values = form_values(document)
        completed, known = completed_document(document)
        if plan:
            result = check_document(completed, known)
            run = result.run
            errors = [
                PlimsollError(each.message, where=each.where, remedy=each.remedy)
                for each in result.mistakes
            ]
        else:
            experiment_in(completed, known)
    except PlimsollError as error:
        errors = each_mistake(error) if isinstance(error, InputError) else (error,)
    return {
        "mistakes": [asdict(_mistake(error, file)) for error in errors],
        "values": values,
        "plan": None if run is None else _planned(run),
    }


def _mistake(error: PlimsollError, file: Path) -> TextMistake:
    place, colon, line = error.where.rpartition(":")
    numbered = bool(colon) and place == str(file) and line.isdecimal()
    return TextMistake(
        line=int(line) if numbered else None,
        where=f"line {line}" if numbered else plain_text(error.where.replace(str(file), file.name)),
        message=plain_text(error.message),
        remedy=plain_text(error.remedy),
    )


def _planned(run: PlannedRun) -> dict[str, Any]:
    """What `plimsoll check` says of it, in short."""
    facts = [("lab", run.lab), ("search", run.strategy)]
    if run.minimum_pps is not None and run.maximum_pps is not None:
        loads = f"{format_pps(run.minimum_pps)} to {format_pps(run.maximum_pps)} per direction"
        facts.append(("loads", loads))
    facts += [(f"CPU {cpu.cpu}", _cpu(cpu.role, cpu.busy_share)) for cpu in run.cpus]
    if run.least_s is not None and run.most_s is not None:
        facts.append(("time", f"{format_duration(run.least_s)} to {format_duration(run.most_s)}"))
    phases = [
        {
            "name": phase.name,
            "trials": _range(phase.trials_least, phase.trials_most),
            "about": phase.about,
        }
        for phase in run.phases
    ]
    return {"facts": facts, "phases": phases, "notes": [*run.notes, *run.assumptions]}


def _cpu(role: str, busy_share: float) -> str:
    polled = f"polled by the {'DUT' if role == 'dut' else role}"
    return f"{polled}; {busy_share:.0%} busy with others now" if busy_share else polled


def _range(least: int | None, most: int | None) -> str:
    if least is None or most is None:
        return "-"
    return str(least) if least == most else f"{least} to {most}"
