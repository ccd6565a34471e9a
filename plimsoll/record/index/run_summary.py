"""A run's summary: what a list of runs shows of it, and where it is kept between lists.

It is `summary.json` in the run directory. The process that records the run writes it when the run
begins and when it ends; where it is missing, or no longer fits the files it was made from, it
is made anew. So it may be deleted at any time, and reading a thousand of them takes neither
YAML nor a model.
"""

from __future__ import annotations

import json
import math
import os
import stat
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self, TypeVar, get_args

from plimsoll.errors import InputError
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.files.whole_file import write_whole
from plimsoll.record.index.run_paths import LATEST_NS
from plimsoll.record.methods.method import RunAnswer
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_record import Verdict
from plimsoll.text.given_path import read_regular_file

RESTORE_RUN = "restore it from a copy of the run, or remove the run: plimsoll runs rm"
# Size in bytes, and the time of the last change in ns since the epoch.
Stamp = tuple[int, int]


@dataclass(frozen=True, slots=True)
class RunSources:
    """The stamps of experiment, journal and result; there is no result before the run's end."""

    experiment: Stamp
    journal: Stamp
    result: Stamp | None

    @classmethod
    def of(cls, run: RunDirectory) -> Self:
        """As they are now. Raises RecordError where one is missing, no file, or unreadable."""
        return cls(
            experiment=_needed(run.experiment),
            journal=_needed(run.journal),
            result=_stamp_of(run.result),
        )

    def hold_for(self, now: Self, *, running: bool) -> bool:
        """Whether what was read from these holds of the files as they are `now`.

        The journal of a `running` run grows by the second, and nothing in it but the run's
        start is in the summary of a running run.
        """
        same = self.experiment == now.experiment and self.result == now.result
        return same and (running or self.journal == now.journal)


def _needed(path: Path) -> Stamp:
    stamp = _stamp_of(path)
    if stamp is None:
        raise RecordError(f"holds no {path.name}", where=str(path.parent), remedy=RESTORE_RUN)
    return stamp


def _stamp_of(path: Path) -> Stamp | None:
    """None where there is no such file."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    if not stat.S_ISREG(found.st_mode):
        raise _unreadable(path, "not a regular file")
    if not os.access(path, os.R_OK, effective_ids=True):
        raise _unreadable(path, "Permission denied")
    return found.st_size, found.st_mtime_ns


def _unreadable(path: Path, reason: str) -> RecordError:
    return RecordError(f"cannot be read: {reason}", where=str(path), remedy=RESTORE_RUN)


FORMAT = 2
_MAX_MIB = 1
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run in short.

    `dut` is the kind of the lab, `model` which DUT is simulated in it. Times are UTC, in ns
    since the epoch: of the run's first and, in a run that is over, its last event. Not
    `complete` is a run that is going on, or was cut short and can be resumed.
    `period` is the period of the metrics that the answer rests on. `trials` are those that
    came to their end. What is not known, of a run that has hardly begun, is None.
    """

    method: str | None
    name: str
    dut: str | None
    model: str | None
    began_unix_ns: int | None
    ended_unix_ns: int | None
    complete: bool
    answer: RunAnswer | None
    verdict: Verdict
    period: str | None
    trials: int
    versions: Mapping[str, str | None]


def summary_file(run: RunDirectory) -> Path:
    """Where the summary of a run is kept."""
    return run.path / "summary.json"


def keep_summary(run: RunDirectory, summary: RunSummary, sources: RunSources) -> None:
    """Write it down with what it was made from; where that cannot be done, leave it.

    Not forced onto the disk: what a power cut spoils is made anew.
    """
    kept = {"format": FORMAT, "sources": asdict(sources), **asdict(summary)}
    with suppress(RecordError):
        write_whole(summary_file(run), checked_text(kept) + "\n", durable=False)


def checked_text(kept: Mapping[str, Any]) -> str:
    """A summary's JSON with its own checksum: the CRC-32 of the JSON of all other fields."""
    return json.dumps({**kept, "crc32": _crc32(kept)})


def _crc32(kept: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(kept).encode())


def kept_summary(run: RunDirectory) -> tuple[RunSummary, RunSources] | None:
    """The summary and what it was made from; None where there is none that can be read."""
    try:
        content = read_regular_file(summary_file(run), _MAX_MIB, "")
        return _parsed(json.loads(content))
    # RecursionError: of brackets in brackets, thousands deep.
    except (OSError, InputError, ValueError, RecursionError):
        return None


def _parsed(kept: Any) -> tuple[RunSummary, RunSources]:
    """Raises ValueError for what `keep_summary` has not written."""
    fields = dict(_object(kept))
    if fields.pop("crc32", None) != _crc32(fields):
        raise ValueError("changed since it was written")
    if fields.get("format") != FORMAT:
        raise ValueError("of another format")
    sources = _object(fields.get("sources"))
    answer = fields.get("answer")
    complete = fields.get("complete")
    if not isinstance(complete, bool):
        raise ValueError("neither complete nor not")
    summary = RunSummary(
        method=_maybe(str, fields.get("method")),
        name=_certainly(_maybe(str, fields.get("name"))),
        dut=_maybe(str, fields.get("dut")),
        model=_maybe(str, fields.get("model")),
        began_unix_ns=_time(fields.get("began_unix_ns")),
        ended_unix_ns=_time(fields.get("ended_unix_ns")),
        complete=complete,
        answer=None if answer is None else _answer(_object(answer)),
        verdict=_verdict(fields.get("verdict")),
        period=_maybe(str, fields.get("period")),
        trials=_certainly(_count(fields.get("trials"))),
        versions={k: _maybe(str, v) for k, v in _object(fields.get("versions")).items()},
    )
    return summary, RunSources(
        experiment=_certainly(_stamp(sources.get("experiment"))),
        journal=_certainly(_stamp(sources.get("journal"))),
        result=_stamp(sources.get("result")),
    )


def _answer(fields: Mapping[str, Any]) -> RunAnswer:
    value = fields.get("value")
    if isinstance(value, int | float) and not math.isfinite(value):
        raise ValueError("not a number")
    return RunAnswer(
        text=_certainly(_maybe(str, fields.get("text"))),
        figure=_certainly(_maybe(str, fields.get("figure"))),
        value=None if value is None else float(_certainly(_maybe((int, float), value))),
        unit=_certainly(_maybe(str, fields.get("unit"))),
    )


def _verdict(value: Any) -> Verdict:
    known: Sequence[Verdict] = get_args(Verdict)
    for each in known:
        if value == each:
            return each
    raise ValueError("no verdict")


def _object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def _maybe(kind: type[T] | tuple[type[T], ...], value: Any) -> T | None:
    if value is None:
        return None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError("of another type")
    return value


def _certainly(value: T | None) -> T:
    if value is None:
        raise ValueError("a field is missing")
    return value


def _count(value: Any) -> int | None:
    count = _maybe(int, value)
    if count is not None and count < 0:
        raise ValueError("below zero")
    return count


def _time(value: Any) -> int | None:
    unix_ns = _count(value)
    if unix_ns is not None and unix_ns >= LATEST_NS:
        raise ValueError("no time")
    return unix_ns


def _stamp(value: Any) -> Stamp | None:
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError("no stamp")
    return _certainly(_maybe(int, value[0])), _certainly(_maybe(int, value[1]))
