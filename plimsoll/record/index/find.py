"""Which runs a user means: by path, id, the start of an id or `last`; or as a filter has it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from plimsoll.errors import InputError
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.index.run_entry import RunEntry, RunState, entry_of
from plimsoll.record.index.run_paths import looks_like_run, part_paths, run_paths
from plimsoll.record.index.run_summary import RunSummary
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_record import Verdict
from plimsoll.text.plain_text import plain_text


def read_index(runs_root: Path, *, parts: bool = False) -> Iterator[RunEntry]:
    """The runs directly below `runs_root`, by name, each as it is now.

    With `parts` a matrix run is followed by the runs it is made of. A run that is removed
    by then is left out. Raises InputError where the folder cannot be read.
    """
    for path in run_paths(runs_root):
        entry = entry_of(path.name, path)
        if entry.state == "damaged" and not path.is_symlink() and not path.exists():
            continue
        yield entry
        if parts:
            for part in part_paths(path):
                yield entry_of(part.relative_to(runs_root).as_posix(), part)


LAST = "last"
_MAX_CANDIDATES = 10
_REMEDY = "plimsoll runs lists all runs"


def find_run(text: str, runs_root: Path) -> RunDirectory:
    """The run that `text` means, opened.

    That is a path; or, below `runs_root`, an id, the start of just one id, or `last`,
    the one that began last. Raises InputError where there is none, where several have that prefix,
    and where it is not a run directory, and RecordError where it cannot be read.
    """
    path = find_run_path(text, runs_root)
    try:
        return RunDirectory.open(path)
    except OSError as error:
        raise RecordError(
            f"cannot be read: {error.strerror or error}",
            where=plain_text(str(path)),
            remedy="make the directory readable for you",
        ) from error


def find_run_path(text: str, runs_root: Path) -> Path:
    """The same, but the run may be damaged. Raises InputError as above."""
    if not text or "\0" in text:
        raise InputError("this names no run", where=repr(text), remedy=_REMEDY)
    if text == LAST:
        return _newest(runs_root)
    return _named(text, runs_root) or _begun_with(text, runs_root)


def _named(text: str, runs_root: Path) -> Path | None:
    """By its path or its whole id; what has no slash is an id first."""
    here, below = Path(text), runs_root / text
    if os.sep in text or text in (os.curdir, os.pardir):
        return next((path for path in (here, below) if os.path.lexists(path)), None)
    if os.path.lexists(below):
        return below
    return here if looks_like_run(here) and os.path.lexists(here) else None


def _begun_with(prefix: str, runs_root: Path) -> Path:
    # No id has a slash: what has one is a path, whether or not there is a folder of runs.
    paths = [] if os.sep in prefix else run_paths(runs_root)
    found = [path for path in paths if path.name.startswith(prefix)]
    if len(found) == 1:
        return found[0]
    place = plain_text(prefix)
    if not found:
        raise InputError(
            f"there is no such run, neither by its path nor in {plain_text(str(runs_root))}",
            where=place,
            remedy=_REMEDY,
        )
    raise InputError(
        f"{len(found)} runs begin so: {_listed(found)}",
        where=place,
        remedy="write enough of the id to distinguish it from the others",
    )


def _listed(paths: list[Path]) -> str:
    shown = ", ".join(plain_text(path.name) for path in paths[:_MAX_CANDIDATES])
    left = len(paths) - _MAX_CANDIDATES
    return shown if left <= 0 else f"{shown} and {left} more"


def _newest(runs_root: Path) -> Path:
    """Of those that can be read, and of those whose time is known, where there are any."""
    entries = [entry for entry in read_index(runs_root) if entry.state != "damaged"]
    if not entries:
        place = plain_text(str(runs_root))
        raise InputError("there is no run yet", where=place, remedy=_REMEDY)
    return max(entries, key=lambda entry: (entry.began_unix_ns or 0, entry.run_id)).run.path


SortKey = Literal["began", "id", "method", "name", "dut", "answer", "state"]
# Before anything that is known; figures of different units are not compared.
_Rank = tuple[bool, str, float, str]


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Everything that is given must hold; an empty tuple asks for nothing.

    A tag without a value is a key that must be there. `duts` are kinds of lab, models of
    simulated DUTs, or both as in "simulated/rare-stalls"; `name` is a shell pattern for the
    run's name or id. A run began from `since_ns` on and before `until_ns` (UTC, ns since the
    epoch).
    """

    tags: tuple[tuple[str, str | None], ...] = ()
    duts: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    states: tuple[RunState, ...] = ()
    since_ns: int | None = None
    until_ns: int | None = None
    name: str | None = None

    def takes(self, entry: RunEntry) -> bool:
        """Whether the run passes the filter. An unknown value of a damaged run does not."""
        summary, began_ns = entry.summary, entry.began_unix_ns
        return (
            _one_of(entry.state, self.states)
            and _one_of(summary.verdict if summary else None, self.verdicts)
            and _one_of(summary.method if summary else None, self.methods)
            and (not self.duts or not _duts(summary).isdisjoint(self.duts))
            and (self.since_ns is None or (began_ns is not None and began_ns >= self.since_ns))
            and (self.until_ns is None or (began_ns is not None and began_ns < self.until_ns))
            and (self.name is None or _called(entry, self.name))
            and all(_tagged(entry.notes.tags, key, value) for key, value in self.tags)
        )


def in_order(entries: Iterable[RunEntry], by: SortKey, *, reverse: bool = False) -> list[RunEntry]:
    """By the key given, then by when they began, the last first; what is unknown comes last.

    By "began" and by "answer" the greatest is first. `reverse` turns all of it around, but
    what is unknown.
    """
    latest_first = sorted(entries, key=lambda e: (e.began_unix_ns or 0, e.run_id), reverse=True)
    rank = _RANKS[by]
    known = [entry for entry in latest_first if not rank(entry)[0]]
    unknown = [entry for entry in latest_first if rank(entry)[0]]
    known.sort(key=rank, reverse=reverse)
    return [*known, *unknown]


def _tagged(tags: Mapping[str, str], key: str, value: str | None) -> bool:
    return key in tags and (value is None or tags[key] == value)


def _one_of(value: str | None, accepted: Sequence[str]) -> bool:
    return not accepted or value in accepted


def _duts(summary: RunSummary | None) -> frozenset[str]:
    if summary is None or summary.dut is None:
        return frozenset()
    if summary.model is None:
        return frozenset({summary.dut})
    return frozenset({summary.dut, summary.model, f"{summary.dut}/{summary.model}"})


def _called(entry: RunEntry, pattern: str) -> bool:
    name = entry.summary.name if entry.summary else ""
    return fnmatchcase(name, pattern) or fnmatchcase(entry.run_id, pattern)


def _by_answer(entry: RunEntry) -> _Rank:
    answer = entry.summary.answer if entry.summary else None
    if answer is None or answer.value is None:
        return (True, "", 0.0, "")
    return (False, answer.unit, -answer.value, "")


def _by_time(entry: RunEntry) -> _Rank:
    return (entry.began_unix_ns is None, "", -float(entry.began_unix_ns or 0), "")


def _by_text(text: Callable[[RunEntry], str | None]) -> Callable[[RunEntry], _Rank]:
    return lambda entry: (text(entry) is None, text(entry) or "", 0.0, "")


_RANKS: Mapping[SortKey, Callable[[RunEntry], _Rank]] = {
    "began": _by_time,
    "answer": _by_answer,
    "id": _by_text(lambda entry: entry.run_id),
    "method": _by_text(lambda entry: entry.summary.method if entry.summary else None),
    "name": _by_text(lambda entry: entry.summary.name if entry.summary else None),
    "dut": _by_text(lambda entry: entry.summary.dut if entry.summary else None),
    "state": _by_text(lambda entry: entry.state),
}
