"""Kernel events around a trial's worst incidents: `causes/<trial>-events.parquet` of a run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from plimsoll.record.files.record_error import write_failed
from plimsoll.record.files.table_file import TableSchema
from plimsoll.record.run.file_check import require_intact_paths
from plimsoll.record.run.listed_files import ListedFiles
from plimsoll.record.run.run_directory import RunDirectory

KERNEL_EVENTS = TableSchema(
    {
        "incident": "INTEGER",
        "tsc": "UBIGINT",
        "cpu": "INTEGER",
        "name": "VARCHAR",
        "fields": "VARCHAR",
        "host": "VARCHAR",
    },
    added=("host",),
)


# Beside KernelEvent, of which a trial has millions, without an incident and of one host.
@dataclass(frozen=True, slots=True)
class KeptEvent:
    """A kernel event near the incident of this place in the trial's list, counted from 0.

    `fields` is JSON text of the event's fields, as the kernel names them; `host` where it
    happened, None for the tester's own.
    """

    incident: int
    tsc: int
    cpu: int
    name: str
    fields: str
    host: str | None = None

    @classmethod
    def of(  # noqa: PLR0917 - as the table has them
        cls,
        incident: int,
        tsc: int,
        cpu: int,
        name: str,
        fields: Mapping[str, int | str],
        host: str | None = None,
    ) -> KeptEvent:
        """From an event's own fields."""
        return cls(incident, tsc, cpu, name, json.dumps(dict(fields), ensure_ascii=False), host)

    def read_fields(self) -> dict[str, int | str]:
        """The fields again; empty where the text is not a JSON object."""
        try:
            found = json.loads(self.fields)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}


def write_kernel_events(run: RunDirectory, trial: int, events: Iterable[KeptEvent]) -> Path:
    """Write a trial's events. Raises RecordError."""
    path = _path(run, trial)
    lines = path.with_suffix(".jsonl")
    try:
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        with lines.open("wb") as file:
            file.writelines(msgspec.json.encode(event) + b"\n" for event in events)
    except OSError as error:
        raise write_failed(lines, error) from error
    KERNEL_EVENTS.convert(lines, path)
    return path


def read_kernel_events(run: RunDirectory, trial: int) -> list[KeptEvent]:
    """A trial's events by incident and time; none where none were kept. Raises RecordError."""
    path = _path(run, trial)
    if not ListedFiles.of(run).present(path):
        return []
    require_intact_paths(run, [path])
    return [KeptEvent(*row) for row in KERNEL_EVENTS.read([path], order_by="incident, tsc, cpu")]


def _path(run: RunDirectory, trial: int) -> Path:
    return run.causes / f"{trial}-events.parquet"
