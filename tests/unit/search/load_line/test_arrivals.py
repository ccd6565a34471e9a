"""How many stalls come in a time, at random and regularly, by hand."""

from __future__ import annotations

import math

import pytest

from plimsoll.search.load_line.arrivals import RANDOM, Arrivals

REGULAR = Arrivals(period_s=37.0)


def test_random_ones_are_a_poisson_process() -> None:
    """0.1 a second, a hundredth of them too long: in 200 s none with exp(-0.2)."""
    assert RANDOM.chance_of_none(0.1, 0.01, 200.0) == pytest.approx(math.exp(-0.2))


def test_regular_ones_come_once_a_period() -> None:
    """Half of all are beyond the threshold, a fifth of those too long: a tenth of all."""
    per_s = 0.5 / 37
    assert REGULAR.chance_of_none(per_s, 0.2, 74.0) == pytest.approx(0.9**2)


def test_where_periods_do_not_fit_there_may_be_one_more() -> None:
    """In one period and a half: one for sure, a second with one half."""
    assert REGULAR.chance_of_none(1 / 37, 0.1, 55.5) == pytest.approx(0.9 * (0.5 + 0.5 * 0.9))


def test_no_more_come_than_periods() -> None:
    """A rate of three a period was taken from intervals that hid several."""
    assert REGULAR.chance_of_none(3 / 37, 0.1, 370.0) == pytest.approx(0.9**10)


@pytest.mark.parametrize("arrivals", [RANDOM, REGULAR])
@pytest.mark.parametrize("duration_s", [18.5, 370.0, 10_800.0])
def test_the_allowed_share_leaves_the_chance_asked_for(
    arrivals: Arrivals, duration_s: float
) -> None:
    share = arrivals.allowed_share(0.5 / 37, duration_s, 0.95)
    left = arrivals.chance_of_none(0.5 / 37, share, duration_s)
    assert left == pytest.approx(0.95, abs=1e-4)


def test_no_more_than_all_are_allowed() -> None:
    assert RANDOM.allowed_share(1e-9, 1.0, 0.95) == 1.0
    assert REGULAR.allowed_share(1e-9, 1.0, 0.95) == 1.0
