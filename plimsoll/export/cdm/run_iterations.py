"""The iterations of a run that is not a matrix, and those of the runs of a matrix.

What of a run is an iteration, a sample and a period, as Crucible understands them. An iteration is
one combination of parameters: the trials with the same frames, and of the same part of a standard
test; in a matrix, what the matrix calls so. It has one sample, or as many as the matrix ran. A
trial is a period; the one that the result rests on is also `measurement`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import JsonValue

from plimsoll.export.cdm.params import Param, by_parameters, matrix_params, params_of, primary
from plimsoll.export.parquet_parts import RecordedPeriod, periods_to_export
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.methods.method import LOAD_LINE
from plimsoll.record.methods.registry import METHODS
from plimsoll.record.metrics.metrics import query_metrics, trial_number
from plimsoll.record.results.result import read_result
from plimsoll.record.run.journal import RUN_STARTED, JournalContents, read_journal
from plimsoll.record.run.run_directory import RunDirectory, trial_period
from plimsoll.record.trials.trial_record import TrialRecord

# Crucible's trafficgen has this metric as its first, and calls the period so.
PRIMARY_SOURCE = "trafficgen"
PRIMARY_TYPE = "rx-pps"
PRIMARY_PERIOD = "measurement"


@dataclass(frozen=True, slots=True)
class CdmSample:
    """One repetition of an iteration, with its periods; `run` holds their metrics.

    `folder` is that directory within the run's own: empty but in a matrix. `primary` is the
    name of the trial that the result rests on, None before any has ended. `phases` has the
    phase of each trial that has ended, such as calibration or search, by its period's name.
    """

    run: RunDirectory
    folder: str
    number: int
    passed: bool
    periods: tuple[RecordedPeriod, ...]
    primary: str | None
    phases: Mapping[str, str]

    @property
    def all_periods(self) -> Iterator[RecordedPeriod]:
        """The trials, and last the one that the result rests on under its other name."""
        yield from self.periods
        for period in self.periods:
            if period.name == self.primary:
                yield replace(period, name=PRIMARY_PERIOD)


@dataclass(frozen=True, slots=True)
class CdmIteration:
    """One combination of parameters."""

    number: int
    params: tuple[Param, ...]
    samples: tuple[CdmSample, ...]

    @property
    def passed(self) -> bool:
        """Whether there is a sample that gave a result."""
        return any(sample.passed for sample in self.samples)


@dataclass(frozen=True, slots=True)
class Outline:
    """A run: its id, when it was started (ns since the epoch), its iterations; never empty."""

    run_id: str
    started_unix_ns: int
    iterations: tuple[CdmIteration, ...]

    @property
    def samples(self) -> Sequence[CdmSample]:
        """Those of all iterations."""
        return [sample for iteration in self.iterations for sample in iteration.samples]

    @property
    def moved(self) -> tuple[RecordedPeriod, ...]:
        """The periods that are shown later than they were, as their times lay over others'."""
        return tuple(p for sample in self.samples for p in sample.periods if p.moved_ms)

    @property
    def begin_ms(self) -> int:
        """When the first period began, in ms since the epoch."""
        return min(period.begin_ms for each in self.samples for period in each.periods)

    @property
    def end_ms(self) -> int:
        """When the last period ended, in ms since the epoch."""
        return max(period.end_ms for each in self.samples for period in each.periods)


_FAILED = frozenset({"fail", "invalid"})


def outline_of(run: RunDirectory, periods: Sequence[str] | None = None) -> Outline:
    """The run's outline, of these periods (None: all).

    Raises InputError for a period that it has not, and RecordError, also when it has no
    metrics yet.
    """
    journal = read_journal(run.journal)
    method = METHODS.get(_method(journal))
    of_many = method is not None and method.of_many_runs
    timeline = Timeline()
    found = (
        _of_matrix(run, timeline, periods) if of_many else _of_run(run, journal, timeline, periods)
    )
    iterations = tuple(found)
    if not iterations:
        raise RecordError(
            "there are no metrics to export yet",
            where=str(run.path),
            remedy="export it when a trial has begun",
        )
    return Outline(run.run_id, _started_unix_ns(journal), iterations)


def _of_matrix(
    run: RunDirectory, timeline: Timeline, periods: Sequence[str] | None
) -> Iterator[CdmIteration]:
    """Each run of a matrix is a sample of its iteration; one that has not begun is none."""
    for number, values in _combinations(run.path / "matrix.json"):
        samples, params = [], matrix_params(values)
        folders = (run.path / f"iteration-{number:04}").glob("sample-*")
        for sample_number, path in sorted((_number(path), path) for path in folders):
            each, place = RunDirectory(path), f"{path.parent.name}/{path.name}"
            for found in _of_run(each, read_journal(each.journal), timeline, periods, as_one=True):
                params = matrix_params(values, found.params)
                samples += [
                    replace(sample, number=sample_number, folder=place) for sample in found.samples
                ]
        if samples:
            yield CdmIteration(number, params, tuple(samples))


def _combinations(path: Path) -> Iterator[tuple[int, Mapping[str, JsonValue]]]:
    try:
        for each in json.loads(path.read_text(encoding="utf-8"))["iterations"]:
            yield int(each["number"]), dict(each["params"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise RecordError(
            f"cannot be read: {error}", where=str(path), remedy="restore it from a copy of the run"
        ) from error


def _of_run(
    run: RunDirectory,
    journal: JournalContents,
    timeline: Timeline,
    periods: Sequence[str] | None,
    *,
    as_one: bool = False,
) -> Iterator[CdmIteration]:
    """Those of one run directory; `as_one` takes all its trials for one combination."""
    recorded = {period.name: period for period in periods_to_export(run, periods)}
    if not recorded:
        return
    # Of all, so that an export of one period has it where an export of all has it.
    moves = timeline.moves(recorded.values() if periods is None else periods_to_export(run))
    trials = [each for each in journal.trials() if trial_period(each.number) in recorded]
    groups = [trials] if as_one or not trials else by_parameters(trials)
    # Trials that were cut short have metrics and no record; they are the last's.
    ended = {trial_period(trial.number) for trial in trials}
    unfinished = [period for name, period in recorded.items() if name not in ended]
    experiment, proof = run.read_experiment(), _proof(run, journal)
    for number, group in enumerate(groups, start=1):
        measured = [_sending(run, trial, recorded[trial_period(trial.number)]) for trial in group]
        measured += unfinished if number == len(groups) else []
        measured = [period.moved(moves.get(period.name, 0)) for period in measured]
        yield CdmIteration(
            number, params_of(experiment, group), (_sample(run, group, measured, proof),)
        )


def _sample(
    run: RunDirectory,
    trials: Sequence[TrialRecord],
    periods: Sequence[RecordedPeriod],
    proof: int | None,
) -> CdmSample:
    found = primary(trials, proof)
    return CdmSample(
        run,
        folder="",
        number=1,
        passed=found is not None and found.verdict not in _FAILED,
        periods=tuple(sorted(periods, key=lambda period: (period.begin_ms, period.name))),
        primary=None if found is None else trial_period(found.number),
        phases={trial_period(trial.number): trial.phase for trial in trials},
    )


def _sending(run: RunDirectory, trial: TrialRecord, recorded: RecordedPeriod) -> RecordedPeriod:
    """The time in which the trial sent: the drain after it would dilute its rates.

    It ends where an interval does, so that no query has to cut one in two.
    """
    statement = (
        "SELECT min(begin_ms), max(end_ms) FROM rows "
        "WHERE source = ? AND type = ? AND begin_ms + end_ms <= 2 * ?"
    )
    end_ms = round(trial.begin_unix_ns / 1e6 + trial.sending_s * 1e3)
    values = [PRIMARY_SOURCE, PRIMARY_TYPE, end_ms]
    ((begin_ms, end_ms),) = query_metrics(run, statement, values, periods=[recorded.name])
    if begin_ms is None:
        return recorded
    return RecordedPeriod(recorded.name, begin_ms, end_ms)


def _proof(run: RunDirectory, journal: JournalContents) -> int | None:
    """The number of the trial that the result of a search names."""
    if _method(journal) != LOAD_LINE:
        return None
    result = read_result(run)
    return None if result is None or result.validation is None else result.validation.trial


def _method(journal: JournalContents) -> str:
    started = journal.of_kind(RUN_STARTED)
    return str(started[0].fields.get("method")) if started else ""


def _started_unix_ns(journal: JournalContents) -> int:
    return journal.events[0].at_unix_ns if journal.events else 0


def _number(folder: Path) -> int:
    digits = re.fullmatch(r"sample-(\d+)", folder.name)
    return int(digits[1]) if digits else 0


# Places the periods of a run in time so that no two trials lie over each other.
#
# CDM's queries know no trial: they take whatever a run has in the time of a period. Where the
# wall clock was set back between trials, or before a run was resumed, their times overlap, and
# each would be given the other's values. Such a trial is moved behind those before it.
class Timeline:
    """The times that trials of a run, or of all runs of a matrix, have taken so far."""

    def __init__(self) -> None:
        self._taken: list[tuple[int, int]] = []

    def moves(self, periods: Collection[RecordedPeriod]) -> dict[str, int]:
        """By how many ms each of these periods of one run directory is to be moved, by name.

        They are those with all their rows, the drain's and the hosts' as well. Trials are
        taken in the order in which they were begun; other periods stay where they are.
        """
        trials = [(number, p) for p in periods if (number := trial_number(p.name)) is not None]
        ordered = [period for _, period in sorted(trials, key=lambda trial: trial[0])]
        return {period.name: self._place(period) for period in ordered}

    def _place(self, period: RecordedPeriod) -> int:
        begin_ms, end_ms = period.begin_ms, period.end_ms
        free = all(end_ms <= taken[0] or taken[1] <= begin_ms for taken in self._taken)
        moved_ms = 0 if free else max(taken[1] for taken in self._taken) - begin_ms
        self._taken.append((begin_ms + moved_ms, end_ms + moved_ms))
        return moved_ms
