"""Goals and the coarser ones before them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.search.mlrsearch.goal import stages_of
from tests.unit.search.mlrsearch.goals import goal


def test_sums_rise_by_equal_factors_and_widths_halve() -> None:
    """From 1 s to 64 s is two steps of eight; no trial is longer than the final ones' 4 s."""
    first, second, last = stages_of(goal(initial_s=1, final_s=4, sum_s=64, width=0.5))
    assert (first.duration_sum_s, second.duration_sum_s) == pytest.approx((1, 8))
    assert (first.final_duration_s, second.final_duration_s) == pytest.approx((1, 4))
    # Half of a half, and half of that.
    assert (first.width, second.width) == pytest.approx((15 / 16, 3 / 4))
    assert last == goal(initial_s=1, final_s=4, sum_s=64, width=0.5)


def test_one_trial_of_the_whole_sum_has_nothing_before_it() -> None:
    asked = goal(final_s=60, sum_s=60)
    assert stages_of(asked) == (asked,)


@given(st.floats(0.001, 60), st.floats(1, 100), st.floats(1, 100))
def test_no_trial_is_shorter_than_the_initial_duration(
    initial_s: float, longer: float, more: float
) -> None:
    final_s = initial_s * longer
    asked = goal(initial_s=initial_s, final_s=final_s, sum_s=final_s * more)
    for stage in stages_of(asked):
        assert initial_s <= stage.final_duration_s <= stage.duration_sum_s


@given(st.floats(1e-6, 0.5), st.floats(1, 1e9))
def test_a_log_width_apart_is_close_enough(width: float, upper_pps: float) -> None:
    asked = goal(width=width)
    assert asked.reached_by(upper_pps * math.exp(-asked.log_width), upper_pps)
    assert not asked.reached_by(upper_pps * math.exp(-asked.log_width * 1.01), upper_pps)
