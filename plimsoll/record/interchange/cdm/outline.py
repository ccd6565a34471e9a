"""What of a run is an iteration, a sample and a period, as Crucible understands them.

An iteration is one combination of parameters: the trials with the same frames, and of the same
part of a standard test. It has one sample, or as many as a matrix ran. A trial is a period;
the one that the result rests on is the period `measurement` besides.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from plimsoll.record.interchange.cdm.params import Param, matrix_params, params_of
from plimsoll.record.interchange.metric_batches import RecordedPeriod, recorded_periods
from plimsoll.record.journal import RUN_STARTED, read_journal
from plimsoll.record.metrics import query_metrics, trial_period
from plimsoll.record.record_error import RecordError
from plimsoll.record.result import read_result
from plimsoll.record.run_directory import RunDirectory
from plimsoll.record.trial_record import TrialRecord

# Crucible's trafficgen has the same metric, and calls the period so.
PRIMARY_SOURCE = "trafficgen"
PRIMARY_TYPE = "rx-pps"
PRIMARY_PERIOD = "measurement"

# These prepare the trials that come after them, and are listed with those.
_PREPARING = frozenset({"calibration", "warmup", "teaching", "baseline"})
_FAILED = frozenset({"fail", "invalid"})


@dataclass(frozen=True, slots=True)
class Sample:
    """One repetition of an iteration; `run` is the directory that holds its metrics.

    Periods are by name; the last is `measurement`, where there is one.
    """

    run: RunDirectory
    number: int
    passed: bool
    periods: tuple[RecordedPeriod, ...]


@dataclass(frozen=True, slots=True)
class Iteration:
    """One combination of parameters."""

    number: int
    params: tuple[Param, ...]
    samples: tuple[Sample, ...]

    @property
    def passed(self) -> bool:
        """Whether there is a sample that gave a result."""
        return any(sample.passed for sample in self.samples)


@dataclass(frozen=True, slots=True)
class Outline:
    """A run: its id, when it was started (ns since the epoch), its method, its iterations."""

    run_id: str
    started_unix_ns: int
    method: str
    iterations: tuple[Iteration, ...]

    @property
    def begin_ms(self) -> int:
        """When the first period began, in ms since the epoch."""
        return min(period.begin_ms for period in self._periods)

    @property
    def end_ms(self) -> int:
        """When the last period ended, in ms since the epoch."""
        return max(period.end_ms for period in self._periods)

    @property
    def _periods(self) -> Iterator[RecordedPeriod]:
        for iteration in self.iterations:
            for sample in iteration.samples:
                yield from sample.periods


def outline(run: RunDirectory, periods: Sequence[str] | None = None) -> Outline:
    """The run's outline, of these periods (None: all).

    Raises InputError for a period that it has not, and RecordError, also when it has no
    metrics yet.
    """
    started = next(iter(read_journal(run.journal).of_kind(RUN_STARTED)), None)
    method = str(started.fields.get("method", "")) if started else ""
    iterations = _matrix(run, periods) if method == "matrix" else _iterations(run, periods)
    if not any(sample.periods for each in iterations for sample in each.samples):
        raise RecordError(
            "there are no metrics to export yet",
            where=str(run.path),
            remedy="export it when a trial has begun",
        )
    return Outline(run.run_id, started.at_unix_ns if started else 0, method, iterations)


def _matrix(run: RunDirectory, periods: Sequence[str] | None) -> tuple[Iteration, ...]:
    """Every run of a matrix is a sample of its iteration; one that has not begun is none."""
    iterations = []
    for number, values in _combinations(run.path / "matrix.json"):
        folders = sorted((run.path / f"iteration-{number:04}").glob("sample-*"), key=_number)
        samples, params = [], matrix_params(values)
        for folder in folders:
            each = RunDirectory(folder)
            found = _iterations(each, periods)
            if found:
                samples.append(_joined(each, _number(folder), found))
                params = matrix_params(values, found[0].params)
        if samples:
            iterations.append(Iteration(number, params, tuple(samples)))
    return tuple(iterations)


def _combinations(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    try:
        for each in json.loads(path.read_text(encoding="utf-8"))["iterations"]:
            yield int(each["number"]), dict(each["params"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RecordError(
            f"cannot be read: {error}", where=str(path), remedy="restore it from a copy of the run"
        ) from error


def _joined(run: RunDirectory, number: int, found: Sequence[Iteration]) -> Sample:
    """One sample of all that a run of a matrix did; it rests on what came last."""
    last = found[-1].samples[0]
    trials = {p.name: p for each in found for p in each.samples[0].periods}
    trials |= {period.name: period for period in last.periods}
    return replace(last, run=run, number=number, periods=_in_order(trials.values()))


def _iterations(run: RunDirectory, wanted: Sequence[str] | None) -> tuple[Iteration, ...]:
    recorded = {period.name: period for period in recorded_periods(run, wanted)}
    trials = [t for t in read_journal(run.journal).trials() if trial_period(t.number) in recorded]
    groups = _groups(trials)
    known = {trial_period(trial.number) for trial in trials}
    # Trials that were cut short have metrics and no record.
    unfinished = [period for name, period in recorded.items() if name not in known]
    experiment = run.read_experiment()
    result = _proof(run)
    iterations = []
    for number, group in enumerate(groups or ([[]] if recorded else []), start=1):
        primary = _primary(group, result)
        periods = [_measured(run, trial, recorded[trial_period(trial.number)]) for trial in group]
        periods += unfinished if number == max(len(groups), 1) else []
        if primary is not None:
            measured = next(p for p in periods if p.name == trial_period(primary.number))
            periods.append(replace(measured, name=PRIMARY_PERIOD))
        sample = Sample(run, 1, _gave_a_result(primary), _in_order(periods))
        iterations.append(Iteration(number, params_of(experiment, group), (sample,)))
    return tuple(iterations)


def _groups(trials: Sequence[TrialRecord]) -> list[list[TrialRecord]]:
    """Trials by their combination of parameters, in the order in which those first came."""
    groups: dict[object, list[TrialRecord]] = {}
    preparing: list[TrialRecord] = []
    key: object = None
    for trial in trials:
        preparing.append(trial)
        if trial.phase not in _PREPARING:
            key = (test_of(trial), trial_frames(trial))
            groups.setdefault(key, []).extend(preparing)
            preparing = []
    if preparing:
        groups.setdefault(key, []).extend(preparing)
    return list(groups.values())


def _primary(trials: Sequence[TrialRecord], proof: int | None) -> TrialRecord | None:
    """The trial that the result rests on: the run's proof, or else the last that passed.

    One that was to validate comes before all others. Without any, it is the last there is.
    """
    judged = [trial for trial in trials if trial.phase not in _PREPARING]
    passed = [trial for trial in judged if trial.verdict == "pass"]
    validated = [trial for trial in passed if trial.phase == "validation"]
    proofs = [trial for trial in judged if trial.number == proof]
    return next((some[-1] for some in (proofs, validated, passed, judged) if some), None)


def _proof(run: RunDirectory) -> int | None:
    """The number of the trial that the result of a search names."""
    started = next(iter(read_journal(run.journal).of_kind(RUN_STARTED)), None)
    if started is None or started.fields.get("method") != "load-line":
        return None
    result = read_result(run.result)
    return None if result is None or result.validation is None else result.validation.trial


def _gave_a_result(primary: TrialRecord | None) -> bool:
    return primary is not None and primary.verdict not in _FAILED


def _measured(run: RunDirectory, trial: TrialRecord, recorded: RecordedPeriod) -> RecordedPeriod:
    """The time in which the trial sent: what comes back in the drain is no rate of the load.

    It ends with an interval: the queries of CDM take what is cut in two a millisecond short.
    """
    statement = (
        "SELECT min(begin_ms), max(end_ms) FROM rows "
        "WHERE source = ? AND type = ? AND begin_ms + end_ms <= 2 * ?"
    )
    sent_ms = round(trial.begin_unix_ns / 1e6 + trial.sending_s * 1e3)
    values = [PRIMARY_SOURCE, PRIMARY_TYPE, sent_ms if sent_ms > 0 else sys.maxsize]
    ((begin_ms, end_ms),) = query_metrics(run, statement, values, periods=[recorded.name])
    if begin_ms is None or end_ms is None:
        return recorded
    return RecordedPeriod(recorded.name, begin_ms, end_ms)
