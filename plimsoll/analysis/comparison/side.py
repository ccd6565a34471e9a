"""One side of a comparison: a run, or several repetitions of one, and the figures compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from plimsoll.errors import InputError
from plimsoll.record.index.find import RunFilter, read_index
from plimsoll.record.index.run_entry import RunEntry, entry_of
from plimsoll.record.index.run_notes import parse_tag
from plimsoll.record.methods.method import Better, Method, RunFigure
from plimsoll.record.methods.registry import method_with_result
from plimsoll.record.query.queried_run import find_runs
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.result_file import read_run_result
from plimsoll.record.run.run_directory import trial_period
from plimsoll.record.trials.latency_record import slowest_figure
from plimsoll.record.trials.stream_record import StreamRecord
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.search.strategy.goal_end import BEYOND_THE_DUT

_QUANTILES = (("p50", "p50_ns"), ("p99", "p99_ns"), ("p99.9", "p99_9_ns"), ("max", "max_ns"))


def figures_of(entry: RunEntry) -> list[RunFigure]:
    """The run's answer first, then latency and loss of the trial it rests on.

    Latency is that of the latency streams where there are any, else of the load streams, and
    of the direction in which it is the longest; where stalls of the tester leave it open it is
    the estimate between both ends, else as measured. Last come the figures that its method has of
    its own. Raises RecordError for a damaged record.
    """
    return [*_answer(entry), *_of_trial(answering_trial(entry)), *_of_method(entry)]


def answering_trial(entry: RunEntry) -> TrialRecord | None:
    """The trial on which a run's answer rests; None where it rests on none, or on several.

    Raises RecordError for a damaged journal.
    """
    period = entry.summary.period if entry.summary else None
    trials = read_journal(entry.run.journal).trials() if period else ()
    return next((each for each in trials if trial_period(each.number) == period), None)


def _answer(entry: RunEntry) -> Iterator[RunFigure]:
    answer = entry.summary.answer if entry.summary else None
    if answer is None:
        return
    # What is measured in time is a latency; all else is a rate or a share that was carried.
    better: Better = "lower" if answer.unit == "ns" else "higher"
    if answer.value is not None:
        yield RunFigure(answer.figure, answer.value, answer.unit, better, _may_be_higher(entry))
    elif (failed := _lowest_failed(entry)) is not None:
        yield RunFigure(answer.figure, failed, answer.unit, better, upper_bound=True)


def _lowest_failed(entry: RunEntry) -> float | None:
    """The lowest load at which the DUT failed, in a run that found none at which it did not.

    Pps per direction. Raises RecordError for a damaged journal.
    """
    if _load_line_method(entry) is None or entry.summary is None:
        return None
    if entry.summary.verdict != "fail":
        return None
    trials = read_journal(entry.run.journal).trials()
    return min((each.load_pps for each in trials if each.verdict == "fail"), default=None)


def _may_be_higher(entry: RunEntry) -> bool:
    """Whether something else than the DUT limits the answer."""
    method = _load_line_method(entry)
    if method is None:
        return False
    result = read_run_result(entry.run, method.result)
    return getattr(result, "limited_by", None) in BEYOND_THE_DUT


def _method(entry: RunEntry) -> Method[Any] | None:
    return method_with_result(entry.summary.method or "") if entry.summary else None


def _load_line_method(entry: RunEntry) -> Method[Any] | None:
    """The run's method where that looks for a load line, and says what limits it."""
    method = _method(entry)
    return method if method is not None and "limited_by" in method.result.model_fields else None


def _of_method(entry: RunEntry) -> Iterator[RunFigure]:
    method = _method(entry)
    if method is None or method.figures is None:
        return
    result = read_run_result(entry.run, method.result)
    if result is not None:
        yield from method.figures(result)


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
    for name, field in _QUANTILES:
        value = slowest_figure(streams, field)
        if value is not None:
            yield RunFigure(f"{name} latency", float(value), "ns", "lower")


@dataclass(frozen=True)
class Side:
    """`label` is as the user names it; `runs` have come to their end, the earliest first.

    `group` has the values of the facts that runs were grouped by, where they were.
    """

    label: str
    runs: tuple[RunEntry, ...]
    group: tuple[str, ...] = ()

    @cached_property
    def figures(self) -> tuple[dict[str, RunFigure], ...]:
        """Of each run, by name; of two with one name the first, which is the run's answer."""
        return tuple(_by_name(figures_of(run)) for run in self.runs)

    @property
    def methods(self) -> frozenset[str]:
        """Those by which its runs were made."""
        return frozenset(run.summary.method or "" for run in self.runs if run.summary)


def invalid_runs(sides: Sequence[Side]) -> tuple[str, ...]:
    """The warning that runs were spoiled by the tester; none where none was."""
    runs = [run.summary for side in sides for run in side.runs if run.summary]
    invalid = sum(summary.verdict == "invalid" for summary in runs)
    if not invalid:
        return ()
    return (f"{invalid} of {len(runs)} runs are invalid: the tester was disturbed, not the DUT.",)


def _by_name(figures: Iterable[RunFigure]) -> dict[str, RunFigure]:
    named: dict[str, RunFigure] = {}
    for each in figures:
        named.setdefault(each.name, each)
    return named


def find_side(text: str, runs_root: Path) -> Side:
    """The runs that carry the tag `text` (key=value), or those that it names, or matches.

    Runs that go on, were cut short or are damaged are left out. Raises InputError where
    none is left.
    """
    entries = _tagged(text, runs_root) if "=" in text else _named(text, runs_root)
    finished = [each for each in entries if each.state == "finished"]
    if not finished:
        raise InputError(
            f"no finished run has this tag ({len(entries)} in another state)",
            where=text,
            remedy="plimsoll runs lists all runs; resume one by --resume",
        )
    return Side(text, tuple(sorted(finished, key=lambda each: each.began_unix_ns or 0)))


def _tagged(text: str, runs_root: Path) -> Sequence[RunEntry]:
    key, value = parse_tag(text)
    tagged = RunFilter(tags=((key, value),))
    return [each for each in read_index(runs_root) if tagged.takes(each)]


def _named(text: str, runs_root: Path) -> Sequence[RunEntry]:
    return [entry_of(run.path.name, run.path) for run in find_runs([text], runs_root)]
