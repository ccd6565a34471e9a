"""A trial is stopped only when nothing can save it; losses and stalls: test_stall_excuses.py."""

from dataclasses import replace
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.generator.histogram import merge
from plimsoll.generator.interface import Interval, LossLimit, TrialPlan
from plimsoll.trial.criteria.criterion import Criterion
from plimsoll.trial.criteria.latency_bound import LatencyBound
from plimsoll.trial.criteria.loss_ratio import LossRatio
from plimsoll.trial.judging.early_abort import EarlyAbort
from plimsoll.trial.outcome.outcome import Baseline, Outcome
from tests.unit.trial.seconds import ONE_STREAM, second, trial_of
from tests.unit.trial.trial_builder import QUEUE_FRAMES, samples

# 20 frames a second for ten seconds.
RATE_PPS = 20
SECONDS = 10
LIMIT_NS = 100
PLAN = replace(ONE_STREAM, streams=(replace(ONE_STREAM.streams[0], rate_pps=RATE_PPS),))

Quantile = Literal["min", "p50", "p99", "max"]


def _bound(quantile: Quantile) -> LatencyBound:
    settings = {"quantile": quantile, "at_most": f"{LIMIT_NS}ns", "role": "load"}
    return LatencyBound.model_validate(settings)


def _stops_at(
    criterion: Criterion,
    seconds: list[Interval],
    plan: TrialPlan = PLAN,
    baseline: Baseline | None = None,
) -> int | None:
    abort = EarlyAbort(plan, [criterion], "wire", QUEUE_FRAMES, baseline=baseline)
    return next((each.index for each in seconds if abort(each)), None)


def _second(index: int, *values_ns: int) -> Interval:
    lost = RATE_PPS - len(values_ns)
    if not values_ns:
        return second(index, sent=RATE_PPS, lost=lost)
    return second(index, sent=RATE_PPS, lost=lost, latency=samples(*values_ns))


def _trial(seconds: list[Interval]) -> Outcome:
    return trial_of(seconds, plan=PLAN, latency=merge(e.streams[0].latency for e in seconds))


def test_the_generator_may_end_it_by_the_same_losses() -> None:
    # 10 % of 200 frames; without room lost where the DUT empties the ports.
    criteria = [LossRatio(at_most=0.1), _bound("max")]
    for drained_by, refused in (("dut", True), ("wire", False), ("tester", False)):
        abort = EarlyAbort(PLAN, criteria, drained_by, QUEUE_FRAMES)
        assert abort.loss_limits == (LossLimit(20, (0,), refused=refused),)


def test_one_frame_above_the_maximum_is_enough() -> None:
    good = [100] * RATE_PPS
    assert _stops_at(_bound("max"), [_second(n, *good) for n in range(10)]) is None
    assert _stops_at(_bound("max"), [_second(0, *good), _second(1, *good[1:], 101)]) == 1


def test_a_quantile_waits_until_too_many_are_above_it_for_the_whole_trial() -> None:
    """Half of 201 may be above p50, and one for the rounding: not the first hundred."""
    late = [_second(n, *[200] * RATE_PPS) for n in range(10)]
    assert _stops_at(_bound("p50"), late) == 5
    recovered = [_second(n, *[200 if n < 5 else 50] * RATE_PPS) for n in range(10)]
    assert _stops_at(_bound("p50"), recovered) is None


def test_a_quantile_waits_for_the_samples_that_it_needs() -> None:
    """p99 is known from a hundred on, in the fifth second."""
    assert _stops_at(_bound("p99"), [_second(n, *[200] * RATE_PPS) for n in range(10)]) == 4


def test_a_minimum_may_always_recover() -> None:
    assert _stops_at(_bound("min"), [_second(n, *[200] * RATE_PPS) for n in range(10)]) is None


def test_of_frames_of_unknown_number_only_the_maximum_is_settled() -> None:
    stream = replace(PLAN.streams[0], pacing=replace(PLAN.streams[0].pacing, kind="back-to-back"))
    plan = replace(PLAN, streams=(stream,))
    late = [_second(n, *[200] * RATE_PPS) for n in range(10)]
    assert _stops_at(_bound("p50"), late, plan) is None
    assert _stops_at(_bound("max"), late, plan) == 0


@pytest.mark.parametrize(
    ("lowest_ns", "stops"), [({"max": 70}, None), ({"max": 60}, 0), ({}, None)]
)
def test_a_multiple_is_of_the_baseline(lowest_ns: dict[str, int], stops: int | None) -> None:
    bound = LatencyBound(quantile="max", times_lowest=2.0, role="load")
    baseline = Baseline(1.0, {"load/0-1": lowest_ns})  # type: ignore[dict-item]
    assert _stops_at(bound, [_second(0, 130)], baseline=baseline) == stops
    assert _stops_at(bound, [_second(0, 130)]) is None


def test_samples_that_stalls_may_have_delayed_stop_it_by_their_low_ends() -> None:
    delayed = second(0, sent=RATE_PPS, latency_across_stalls=samples(*[500] * RATE_PPS))
    short, long = (
        replace(
            delayed,
            streams=tuple(
                replace(each, latency_less_stalls=samples(*[low] * RATE_PPS))
                for each in delayed.streams
            ),
        )
        for low in (50, 400)
    )
    assert _stops_at(_bound("max"), [short]) is None
    assert _stops_at(_bound("max"), [long]) == 0


_latencies = st.lists(
    st.lists(st.sampled_from([1, 99, 100, 101, 102, 255]), max_size=RATE_PPS),
    min_size=SECONDS,
    max_size=SECONDS,
)
_mostly_late = st.lists(
    st.lists(st.sampled_from([100, 101]), min_size=RATE_PPS, max_size=RATE_PPS),
    min_size=SECONDS,
    max_size=SECONDS,
)


@given(_latencies | _mostly_late, st.sampled_from(["min", "p50", "p99", "max"]))
def test_no_trial_that_would_have_met_its_latency_is_stopped(
    latencies: list[list[int]], quantile: Quantile
) -> None:
    seconds = [_second(n, *values_ns) for n, values_ns in enumerate(latencies)]
    stopped = _stops_at(_bound(quantile), seconds)
    if stopped is not None:
        for judged in (_trial(seconds), _trial(seconds[: stopped + 1])):
            (finding,) = _bound(quantile).evaluate(judged)
            assert finding.outcome == "fail"


@given(
    st.lists(st.integers(0, RATE_PPS), min_size=SECONDS, max_size=SECONDS),
    st.sampled_from([0, 0.02, 0.1, 0.5]),
)
def test_no_trial_that_would_have_met_its_loss_is_stopped(lost: list[int], at_most: float) -> None:
    criterion = LossRatio(at_most=at_most)
    seconds = [second(n, sent=RATE_PPS, lost=each) for n, each in enumerate(lost)]
    stopped = _stops_at(criterion, seconds)
    if stopped is not None:
        for judged in (_trial(seconds), _trial(seconds[: stopped + 1])):
            (finding,) = criterion.evaluate(judged)
            assert finding.outcome == "fail"
