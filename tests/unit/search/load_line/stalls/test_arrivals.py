"""How many stalls come in a time, at random and regularly, by hand."""

from __future__ import annotations

import math

import pytest

from plimsoll.search.load_line.stalls.arrivals import RANDOM, Arrivals

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
