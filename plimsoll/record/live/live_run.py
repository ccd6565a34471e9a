"""What a run is doing at this moment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from plimsoll.record.live.latest_values import (
    LatestValue,
    LatestValues,
    LiveInterval,
    SeriesKey,
)
from plimsoll.record.run.journal import FINISHED, TRIAL_STARTED, JournalContents, JournalFollower
from plimsoll.record.run.listed_files import listed_in
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_record import TrialRecord


# A file of lines that grows, read a piece at a time.
class FollowedFile:
    """Gives each line once, when it is complete; also those written before it was removed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None
        self._torn = b""

    def new_lines(self) -> list[str]:
        """Those since the last look; none where there is no file yet, or none any more."""
        if self._file is None:
            try:
                self._file = self._path.open("rb")
            except FileNotFoundError:
                return []
        *lines, self._torn = (self._torn + self._file.read()).split(b"\n")
        return [line.decode(errors="replace") for line in lines]

    def close(self) -> None:
        """Let go of it; safe to repeat."""
        if self._file is not None:
            self._file.close()
            self._file = None


@dataclass(frozen=True, slots=True)
class LiveTrial:
    """The trial that is going on. `load_pps` is per direction.

    It was begun at `begun_unix_ns` (UTC, ns since the epoch), its preparation included, and is
    to send for `planned_s`; None where its journal does not say.
    """

    number: int
    phase: str
    load_pps: float
    begun_unix_ns: int
    planned_s: float | None


@dataclass(frozen=True, slots=True)
class LiveState:
    """`values` are those of the trial that is going on: none between trials.

    `trials` are those that have ended, `verdicts` counts them by verdict. `begun_unix_ns` is when
    the run's first event was; None before it. `totals` is what each counted series
    has counted in all trials since the run was first looked at; it never falls.
    """

    run_id: str
    finished: bool
    begun_unix_ns: int | None
    trial: LiveTrial | None
    trials: tuple[TrialRecord, ...]
    verdicts: Mapping[str, int]
    values: tuple[LatestValue, ...]
    totals: Mapping[SeriesKey, float]


@dataclass(frozen=True, slots=True)
class _Growing:
    file: FollowedFile
    latest: LatestValues


class LiveRun:
    """Follows a run by its files, without any part of the process that runs it.

    Each interval of each reader is given to `listener` once, when a look has found it.
    """

    def __init__(
        self, run: RunDirectory, listener: Callable[[LiveInterval], None] | None = None
    ) -> None:
        self._run = run
        self._listener = listener
        self._journal = JournalFollower(run.journal)
        self._growing: dict[Path, _Growing] = {}
        self._totals: Counter[SeriesKey] = Counter()

    def look(self) -> LiveState:
        """How things stand. Raises RecordError when the journal is damaged."""
        journal = self._journal.read()
        self._follow()
        return LiveState(
            run_id=self._run.run_id,
            finished=bool(journal.of_kind(FINISHED)),
            begun_unix_ns=journal.events[0].at_unix_ns if journal.events else None,
            trial=_trial_of(journal),
            trials=journal.trials(),
            verdicts=Counter(trial.verdict for trial in journal.trials()),
            values=tuple(v for each in self._growing.values() for v in each.latest.values()),
            totals=dict(self._totals),
        )

    def _follow(self) -> None:
        for path in listed_in(self._run, self._run.metrics):
            if path.suffix == ".jsonl" and path not in self._growing:
                self._growing[path] = _Growing(FollowedFile(path), LatestValues(self._listener))
        for path, growing in tuple(self._growing.items()):
            # Looked at before it is read: what was written until it went is read as well.
            present = path.exists()
            growing.latest.take(growing.file.new_lines())
            self._totals.update(growing.latest.counted())
            if not present:
                growing.file.close()
                del self._growing[path]


def _trial_of(journal: JournalContents) -> LiveTrial | None:
    """The last that was begun, if it has not ended."""
    started = journal.of_kind(TRIAL_STARTED)
    if not started:
        return None
    begun, fields = started[-1].at_unix_ns, started[-1].fields
    number, load_pps = fields.get("number"), fields.get("load_pps")
    planned_s = fields.get("planned_s")
    ended = {trial.number for trial in journal.trials()}
    if not isinstance(number, int) or not isinstance(load_pps, int | float) or number in ended:
        return None
    length_s = float(planned_s) if isinstance(planned_s, int | float) else None
    return LiveTrial(number, str(fields.get("phase")), float(load_pps), begun, length_s)
