"""One run in the index: its summary, its state, its tags and notes, and what is damaged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Self

from plimsoll.record.files.record_error import RecordError
from plimsoll.record.index.run_notes import RunNotes, read_notes
from plimsoll.record.index.run_paths import time_in_id
from plimsoll.record.index.run_summary import RunSources, RunSummary, keep_summary, kept_summary
from plimsoll.record.index.summarise import summarise
from plimsoll.record.run.file_check import check_run
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.run.run_lock import is_held

# Running: a live process holds the run's lock. Stopped: it was cut short, and --resume goes on.
RunState = Literal["running", "finished", "stopped", "damaged"]


@dataclass(frozen=True, slots=True)
class Damage:
    """What of a run cannot be read: where, why, and what to do."""

    where: str
    reason: str
    remedy: str

    @classmethod
    def of(cls, error: RecordError) -> Self:
        """As the error message gave it."""
        return cls(error.where, error.message, error.remedy)


@dataclass(frozen=True, slots=True)
class RunEntry:
    """One run. `run_id` is its path below the folder that was looked through.

    `summary` is None of a damaged run. Damaged tags and notes are reported, and do not make the
    run damaged.
    """

    run_id: str
    run: RunDirectory
    state: RunState
    summary: RunSummary | None
    notes: RunNotes
    damage: tuple[Damage, ...] = ()

    @property
    def began_unix_ns(self) -> int | None:
        """UTC, in ns since the epoch; of a damaged run what its id says, if that is a time."""
        return time_in_id(self.run_id) if self.summary is None else self.summary.began_unix_ns


def entry_of(run_id: str, path: Path) -> RunEntry:
    """The entry of the directory at `path`, whatever state it is in."""
    run = RunDirectory(path)
    damage: list[Damage] = []
    summary: RunSummary | None = None
    state: RunState = "damaged"
    try:
        running = is_held(path / "lock")
        summary = _summary(run, running=running)
        state = "running" if running else "finished" if summary.complete else "stopped"
    except RecordError as error:
        damage.append(Damage.of(error))
    try:
        notes = read_notes(run)
    except RecordError as error:
        notes = RunNotes()
        # Where the whole directory cannot be read, that has been said.
        if state != "damaged":
            damage.append(Damage.of(error))
    return RunEntry(run_id, run, state, summary, notes, tuple(damage))


def checked_entry(entry: RunEntry) -> RunEntry:
    """The same, and what of all its files is not as it was recorded; reads every byte of them."""
    if entry.state == "damaged":
        return entry
    try:
        found = tuple(Damage.of(each.error) for each in check_run(entry.run))
    except RecordError as error:
        found = (Damage.of(error),)
    return replace(entry, damage=(*entry.damage, *found))


def _summary(run: RunDirectory, *, running: bool) -> RunSummary:
    """The one that is kept, where it still holds. Raises RecordError."""
    sources = RunSources.of(run)
    kept = kept_summary(run)
    if kept is not None and kept[1].hold_for(sources, running=running):
        return kept[0]
    summary = summarise(run)
    # Of a running run, its own process keeps the summary.
    if not running:
        keep_summary(run, summary, sources)
    return summary
