"""How rare losses without a stall are, and where they are rare enough."""

from __future__ import annotations

import math

import pytest

from plimsoll.search.load_line.hazard import LossRate, loss_free_pps, loss_rates
from plimsoll.search.load_line.weigh import weigh
from tests.unit.search.load_line.trials import tried


def test_the_line_through_two_rates_is_followed_down() -> None:
    """Ten times rarer for each 10 kpps: from one in 10 s at 90 kpps to one in 1000 s at 70."""
    rates = [LossRate(90_000, 6, 60), LossRate(100_000, 60, 60)]
    assert loss_free_pps(rates, 1e-3, 0.005) == pytest.approx(70_000)


def test_it_is_not_followed_further_than_a_quarter() -> None:
    rates = [LossRate(90_000, 6, 60), LossRate(100_000, 60, 60)]
    assert loss_free_pps(rates, 1e-9, 0.005) == pytest.approx(67_500)


def test_one_load_or_a_rate_that_does_not_fall_says_nothing() -> None:
    assert loss_free_pps([], 1e-3, 0.005) is None
    assert loss_free_pps([LossRate(90_000, 6, 60)], 1e-3, 0.005) is None
    flat = [LossRate(90_000, 6, 60), LossRate(100_000, 6, 60)]
    assert loss_free_pps(flat, 1e-3, 0.005) is None


def test_events_are_counted_not_frames() -> None:
    """In 20 s, two intervals lost 50 frames each: -20 ln(1 - 2/20) events."""
    [rate] = loss_rates([tried(1e5, 20, losses={3: 50, 9: 50})], weigh([], 0.0))
    assert rate.events == pytest.approx(-20 * math.log(0.9))
    assert rate.seconds == 20


def test_where_all_intervals_are_lossy_an_event_is_as_large_as_where_few_are() -> None:
    rates = loss_rates(
        [
            tried(1e5, 20, losses={3: 50, 9: 50}),
            tried(1.1e5, 20, losses=dict.fromkeys(range(20), 500)),
        ],
        weigh([], 0.0),
    )
    assert rates[1].events == pytest.approx(20 * 500 / 50)
