"""Which load is tried next, after a few trials made by hand; widths are 10 %."""

import math

import pytest

from plimsoll.search.mlrsearch.candidate import next_load
from plimsoll.search.mlrsearch.goal import Goal
from plimsoll.search.mlrsearch.span import Span
from plimsoll.search.mlrsearch.trial_log import TrialLog
from plimsoll.search.strategy.ask import Ask, Told
from plimsoll.trial.judging.verdict import Verdict
from tests.unit.search.duts import evidence
from tests.unit.search.mlrsearch.goals import goal

SHORT = goal(final_s=1, sum_s=1, exceed=0, width=0.1)
LONG = goal(final_s=60, sum_s=60, exceed=0, width=0.1)
SPAN = Span(1e4, 1e6)
STEP = SHORT.log_width

# Seconds, load in pps, verdict, loss ratio.
Trial = tuple[float, float, Verdict, float]


def _next(
    *trials: Trial, stage: Goal = SHORT, coarser: Goal | None = None, span: Span = SPAN
) -> float | None:
    log = TrialLog([stage.name])
    for duration_s, load_pps, verdict, lost in trials:
        asked = Ask("search", load_pps, duration_s, goal=stage.name)
        log.add(asked, Told({stage.name: verdict}, evidence(asked, lost), {}))
    return next_load(stage, coarser, log, span)


def test_the_maximum_comes_first() -> None:
    assert _next() == 1e6


def test_what_an_overloaded_dut_forwarded_comes_next_less_half_a_width() -> None:
    assert _next((1, 1e6, "fail", 0.7)) == pytest.approx(3e5 * math.sqrt(0.9))


def test_a_little_loss_asks_for_one_width_less_then_two() -> None:
    little = (1, 1e6, "fail", 0.01)
    assert _next(little) == pytest.approx(0.9e6)
    assert _next(little, (1, 0.9e6, "fail", 0.01)) == pytest.approx(0.9e6 * 0.81)


def test_a_failure_without_loss_asks_for_the_middle() -> None:
    assert _next((1, 1e6, "fail", 0)) == pytest.approx(1e5)


def test_a_load_that_held_asks_for_one_width_more_then_two() -> None:
    """300 kpps were forwarded at 1 Mpps, and more is carried."""
    top = (1, 1e6, "fail", 0.7)
    first = 3e5 * math.sqrt(0.9)
    held = (1, first, "pass", 0)
    assert _next(top, held) == pytest.approx(first / 0.9)
    assert _next(top, held, (1, first / 0.9, "pass", 0)) == pytest.approx(first / 0.9 / 0.81)


def test_a_dut_that_collapsed_is_halved_towards() -> None:
    """Forwarded were 20 kpps, but 500 kpps hold."""
    assert _next((1, 1e6, "fail", 0.98), (1, 5e5, "pass", 0)) == pytest.approx(5e5 / 0.9)
    steps = [(1, 18_973.67 * 1.2**n, "pass", 0.0) for n in range(6)]
    lower_pps = steps[-1][1]
    assert _next((1, 1e6, "fail", 0.98), *steps) == pytest.approx(math.sqrt(lower_pps * 1e6))


def test_bounds_a_width_apart_are_enough() -> None:
    assert _next((1, 1e6, "fail", 0.1), (1, 0.9e6, "pass", 0)) is None


def test_new_loads_keep_half_a_width_from_both_bounds() -> None:
    """One width below 1 Mpps would be just above the lower bound, one and a bit below."""
    found = _next((1, 1e6, "fail", 0.01), (1, 0.89e6, "pass", 0))
    assert found is not None
    assert found == pytest.approx(0.89e6 * math.sqrt(1e6 / 0.89e6), rel=0.01)
    assert math.log(found / 0.89e6) >= STEP / 2
    assert math.log(1e6 / found) >= STEP / 2


def test_a_load_next_to_the_one_wanted_that_has_trials_is_taken_instead() -> None:
    """For another goal; by this one it is not yet decided."""
    half = goal(final_s=1, sum_s=2, exceed=0.25, width=0.1)
    fails: list[Trial] = [(1, 1e6, "fail", 0.7)]
    near_pps = 3e5 * math.sqrt(0.9) * 1.02
    assert _next(*fails, (1, near_pps, "pass", 0), stage=half) == near_pps


def test_the_minimum_ends_the_way_down() -> None:
    assert _next((1, 10_500, "fail", 0.01)) == 1e4
    assert _next((1, 1e4, "fail", 0.01)) is None


def test_the_maximum_ends_the_way_up() -> None:
    assert _next((1, 1e6, "pass", 0)) is None


def test_what_cannot_be_tested_bounds_like_a_failure() -> None:
    barred = SPAN.barred_at(1e6)
    assert _next(span=barred) == pytest.approx(1e5)
    assert _next((1, 0.95e6, "pass", 0), span=barred) is None
    assert _next(span=SPAN.barred_at(1e4)) is None


SHORT_BOUNDS: list[Trial] = [
    (1, 1e5, "pass", 0),
    (1, 2e5, "pass", 0),
    (1, 3e5, "pass", 0),
    (1, 4e5, "fail", 0.01),
]


def test_long_trials_begin_at_the_lower_bound_of_short_ones() -> None:
    # A short failure is a long one too; a short success is not.
    assert _next(*SHORT_BOUNDS, stage=LONG, coarser=SHORT) == 3e5


def test_a_long_failure_retreats_to_what_held_before() -> None:
    failed = (60, 3e5, "fail", 1e-6)
    assert _next(*SHORT_BOUNDS, failed, stage=LONG, coarser=SHORT) == 2e5


def test_what_held_above_a_failure_is_no_place_to_begin() -> None:
    trials: list[Trial] = [(1, 1e5, "pass", 0), (1, 2e5, "fail", 0.01), (1, 3e5, "pass", 0)]
    assert _next(*trials, stage=LONG, coarser=SHORT) == 1e5


def test_long_trials_that_hold_climb_to_what_failed_in_short_ones() -> None:
    """With exceed ratio, a short failure alone decides nothing."""
    short = goal(final_s=1, sum_s=1, exceed=0.5, width=0.1)
    long = goal(final_s=60, sum_s=60, exceed=0.5, width=0.1)
    held = (60, 3e5, "pass", 0)
    assert _next(*SHORT_BOUNDS, held, stage=long, coarser=short) == 4e5
    assert _next(held, stage=long, coarser=short) == 1e6
