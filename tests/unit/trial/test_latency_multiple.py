"""Latency held to a multiple of what it was at the lowest load."""

from dataclasses import replace
from typing import Any

import pytest

from plimsoll.generator.interface import TrialReport
from plimsoll.record.trials.trial_parts import TrialIdentity
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.trial.criteria.latency_bound import LatencyBound
from plimsoll.trial.outcome.outcome import Baseline, Outcome
from tests.unit.trial.trial_builder import PLAN, outcome, samples
from tests.worded.says import Says

BASELINE = Baseline(1000, {"probe/0-1": {"p50": 40, "p99": 60}})


def _bound(**changes: Any) -> LatencyBound:
    return LatencyBound(quantile="p99", times_lowest=2.0).model_copy(update=changes)


def _found(bound: LatencyBound, judged: Outcome) -> tuple[str, float | None, float | None, str]:
    (finding,) = bound.evaluate(judged)
    return finding.outcome, finding.value, finding.limit, finding.text


def test_it_is_the_multiple_of_the_same_quantile_of_the_same_stream(says: Says) -> None:
    """The clean trial's p99 is 120 ns: twice 60."""
    judged = replace(outcome(), baseline=BASELINE)
    assert _found(_bound(), judged)[:3] == ("ok", 120, 120)
    verdict, value, limit, text = _found(_bound(times_lowest=1.5), judged)
    assert (verdict, value, limit) == ("fail", 120, 90)
    assert text == says("probe/0-1", "p99", "120", "90", "1.5")
    assert _found(_bound(quantile="p50"), judged)[:3] == ("fail", 110, 80)


@pytest.mark.parametrize(
    "baseline",
    [
        None,
        Baseline(1000, {}),
        # Too few samples there for p99.
        Baseline(1000, {"probe/0-1": {"p50": 40}}),
    ],
)
def test_without_the_lowest_latency_it_cannot_be_evaluated(
    baseline: Baseline | None, says: Says
) -> None:
    verdict, value, limit, text = _found(_bound(), replace(outcome(), baseline=baseline))
    assert (verdict, value, limit) == ("invalid", 120, None)
    assert text == says("probe/0-1", "p99", "120", "2.0")


def test_only_a_multiple_needs_a_baseline() -> None:
    assert _bound().needs_baseline
    assert not _bound(at_most=500, times_lowest=None).needs_baseline


def _record(report: TrialReport) -> TrialRecord:
    plan = replace(PLAN, load_pps=1000)
    lost = {each.stream: 0 for each in plan.streams}
    return TrialRecord.from_report(TrialIdentity(1, "baseline"), plan, report, lost=lost)


def test_a_baseline_has_the_quantiles_that_there_were_samples_enough_for() -> None:
    judged = outcome()
    streams = tuple(
        replace(each, latency=samples(*range(1, 101))) if each.stream == 2 else each
        for each in judged.report.streams
    )
    baseline = Baseline.of(_record(replace(judged.report, streams=streams)))
    assert baseline.load_pps == 1000
    assert baseline.latency_ns["probe/0-1"] == {"min": 1, "p50": 50, "p99": 99, "max": 100}
    assert baseline.latency_ns["load/0-1"] == {}
