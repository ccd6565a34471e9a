"""The figures by which runs are compared: what each found, and the latency and loss there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from plimsoll.record.index.run_entry import RunEntry
from plimsoll.record.metrics.metrics import trial_period
from plimsoll.record.run.journal import read_journal
from plimsoll.record.trials.latency_record import LatencyRecord
from plimsoll.record.trials.stream_record import StreamRecord
from plimsoll.record.trials.trial_record import TrialRecord

Better = Literal["higher", "lower"]

_QUANTILES: tuple[tuple[str, Callable[[LatencyRecord], float | None]], ...] = (
    ("p50", lambda latency: latency.p50_ns),
    ("p99", lambda latency: latency.p99_ns),
    ("p99.9", lambda latency: latency.p99_9_ns),
    ("max", lambda latency: latency.max_ns),
)


@dataclass(frozen=True, slots=True)
class RunFigure:
    """One value of a run, with its unit and which way is the better one."""

    name: str
    value: float
    unit: str
    better: Better


def figures_of(entry: RunEntry) -> list[RunFigure]:
    """The run's answer first, then latency and loss of the trial it rests on.

    Latency is that of the latency streams where there are any, else of the load streams, and
    of the direction in which it is the longest. Raises RecordError for a damaged journal.
    """
    return [*_answer(entry), *_of_trial(answering_trial(entry))]


def answering_trial(entry: RunEntry) -> TrialRecord | None:
    """The trial on which a run's answer rests; None where it rests on none, or on several.

    Raises RecordError for a damaged journal.
    """
    period = entry.summary.period if entry.summary else None
    trials = read_journal(entry.run.journal).trials() if period else ()
    return next((each for each in trials if trial_period(each.number) == period), None)


def _answer(entry: RunEntry) -> Iterator[RunFigure]:
    answer = entry.summary.answer if entry.summary else None
    if answer is not None and answer.value is not None:
        # What is measured in time is a latency; all else is a rate or a share that was carried.
        better: Better = "lower" if answer.unit == "ns" else "higher"
        yield RunFigure(answer.figure, answer.value, answer.unit, better)


def _of_trial(trial: TrialRecord | None) -> Iterator[RunFigure]:
    if trial is None:
        return
    probes = [each for each in trial.streams if each.role == "latency"]
    yield from _latency(probes or list(trial.streams))
    offered = sum(each.lost + each.received - each.duplicate for each in trial.streams)
    if offered:
        lost = sum(each.lost for each in trial.streams)
        yield RunFigure("loss ratio", lost / offered, "ratio", "lower")


def _latency(streams: list[StreamRecord]) -> Iterator[RunFigure]:
    for name, quantile in _QUANTILES:
        known = [quantile(each.latency) for each in streams]
        values = [value for value in known if value is not None]
        if values:
            yield RunFigure(f"{name} latency", float(max(values)), "ns", "lower")
