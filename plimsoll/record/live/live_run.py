"""What a run is doing at this moment."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from plimsoll.record.metrics.over_time import Reduction, own_reduction
from plimsoll.record.run.journal import FINISHED, TRIAL_STARTED, JournalContents, JournalFollower
from plimsoll.record.run.listed_files import listed_in
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_record import TrialRecord

_NS_PER_S = 1e9


@dataclass(frozen=True, slots=True)
class LatestValue:
    """A series and its value over the last time range written.

    `reduction` is what the type is over a longer time, which this value is not.
    """

    source: str
    type: str
    unit: str
    names: Mapping[str, str]
    value: float
    reduction: Reduction


@dataclass(frozen=True, slots=True)
class LiveInterval:
    """What one reader found in [begin_ns, end_ns) since the epoch, in one period."""

    period: str
    begin_ns: int
    end_ns: int
    values: tuple[LatestValue, ...]


# A series: its source, its type, and its names with their values, in order.
SeriesKey = tuple[str, str, tuple[tuple[str, str], ...]]


@dataclass(slots=True)
class _Series:
    kind: Mapping[str, Any]
    names: Mapping[str, str]
    value: float | None = None
    # What was counted since `counted` was last called, in the type's own measure.
    counted: float = 0.0


class LatestValues:
    """Takes the lines of one file, in order; a torn or unknown line is left out.

    Each interval is given to `listener`, where there is one, as it is taken.
    """

    def __init__(self, listener: Callable[[LiveInterval], None] | None = None) -> None:
        self._listener = listener
        self._period = ""
        self._names: Mapping[str, str] = {}
        self._kinds: dict[int, Mapping[str, Any]] = {}
        self._series: dict[int, _Series] = {}

    def take(self, lines: Iterable[str]) -> None:
        """Go on to where these lines lead."""
        for line in lines:
            try:
                fields = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if "period" in fields:
                self._period = str(fields["period"])
                self._names = fields.get("names") or {}
            elif "series" in fields:
                self._declare(fields)
            elif "numbers" in fields:
                self._tick(fields)

    def values(self) -> list[LatestValue]:
        """Every series that is present."""
        return list(self._present(self._series.values()))

    def counted(self) -> dict[SeriesKey, float]:
        """What every counted series has counted since the last call."""
        found: dict[SeriesKey, float] = {}
        for each in self._series.values():
            if each.kind["counted"] and each.value is not None:
                names = tuple(sorted({**self._names, **each.names}.items()))
                found[each.kind["source"], each.kind["type"], names] = each.counted
                each.counted = 0.0
        return found

    def _present(self, series: Iterable[_Series]) -> Iterator[LatestValue]:
        for each in series:
            if each.value is not None:
                yield LatestValue(
                    source=each.kind["source"],
                    type=each.kind["type"],
                    unit=each.kind["unit"],
                    names={**self._names, **each.names},
                    value=each.value,
                    reduction=own_reduction(
                        each.kind["type"], each.kind["aggregation"], counted=each.kind["counted"]
                    ),
                )

    def _declare(self, fields: Mapping[str, Any]) -> None:
        self._kinds.update({kind["kind"]: kind for kind in fields.get("types", ())})
        for declared in fields["series"]:
            kind = self._kinds[declared["kind"]]
            # A counter that has been read and not mentioned since stands still.
            still = kind["carried"] and kind["counted"] and declared["since_ns"] is not None
            self._series[declared["number"]] = _Series(
                kind, declared["names"], 0.0 if still else None
            )

    def _tick(self, fields: Mapping[str, Any]) -> None:
        length_s = (fields["end_ns"] - fields["begin_ns"]) / _NS_PER_S
        ticked = dict(zip(fields["numbers"], fields["values"], strict=True))
        for number, series in self._series.items():
            if series.kind["reader"] != fields["reader"]:
                continue
            if number in ticked:
                series.value = _per_second(series.kind, ticked[number], length_s)
                if series.kind["counted"]:
                    series.counted += (ticked[number] or 0) * float(series.kind["scale"])
            elif not series.kind["carried"]:
                series.value = None
            elif series.kind["counted"] and series.value is not None:
                series.value = 0.0
        if self._listener is not None:
            of_reader = (s for s in self._series.values() if s.kind["reader"] == fields["reader"])
            values = tuple(self._present(of_reader))
            self._listener(LiveInterval(self._period, fields["begin_ns"], fields["end_ns"], values))


def _per_second(kind: Mapping[str, Any], value: float | None, length_s: float) -> float | None:
    if value is None or not kind["counted"]:
        return value
    return value * float(kind["scale"]) / length_s if length_s > 0 else None


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
