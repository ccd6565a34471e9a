"""The odds of losing no more than a budget, against sums written out and closed formulas."""

from __future__ import annotations

import math

import pytest

from plimsoll.search.simulated.models.losses.compound_loss import LossEvents, odds_of_sum_at_most
from plimsoll.search.simulated.models.stalls.stall_length import LengthDistribution, StallLength
from plimsoll.search.simulated.models.stalls.stalled_queue import StalledQueue
from tests.unit.generator.simulated.driving import chance_of


def by_recursion(events: float, frames: float, budget: int) -> float:
    """Panjer's recursion for a Poisson count of geometric losses, from 1 on."""
    success = 1 / frames
    odds = [math.exp(-events)]
    for total in range(1, budget + 1):
        terms = (
            loss * success * (1 - success) ** (loss - 1) * odds[total - loss]
            for loss in range(1, total + 1)
        )
        odds.append(events / total * sum(terms))
    return sum(odds)


@pytest.mark.parametrize("events", [0.01, 1.0, 20.0])
@pytest.mark.parametrize("frames", [1.0, 2.5, 40.0])
@pytest.mark.parametrize("budget", [0, 1, 7, 60, 300])
def test_geometric_losses(events: float, frames: float, budget: int) -> None:
    found = LossEvents(events / 10, frames).odds_of_at_most(budget, 10.0)
    assert found == pytest.approx(by_recursion(events, frames, budget), abs=1e-6)


def test_many_losses_are_normal() -> None:
    # 1000 events of a frame each: a Poisson count, whose deviation is 31.6.
    events = LossEvents(1.0, 1.0)
    assert events.odds_of_at_most(1000, 1000.0) == pytest.approx(0.508, abs=0.005)
    assert events.odds_of_at_most(1052, 1000.0) == pytest.approx(0.95, abs=0.005)


def test_the_same_loss_in_fewer_events() -> None:
    events = LossEvents.losing(10.0, 4.0)
    assert (events.per_s, events.lost_pps) == (2.5, 10.0)
    assert LossEvents.losing(10.0, 0.3) == (10.0, 1.0)


@pytest.mark.parametrize("events", [0.05, 2.0, 50.0])
@pytest.mark.parametrize("share", [0.5, 1.0, 2.0])
def test_sums_of_losses_by_gamma(events: float, share: float) -> None:
    budget, frames = share * events * 20.0, 20.0
    # The mean square of a geometric count from 1 on is 2 m^2 - m.
    found = odds_of_sum_at_most(budget, events, frames, 2 * frames**2 - frames)
    assert found == pytest.approx(by_recursion(events, frames, int(budget)), abs=0.03)


def test_a_loss_too_small_to_be_squared_breaks_no_budget() -> None:
    assert odds_of_sum_at_most(1e6, 1.0, 1e-200, 1e-200) == 1.0


@pytest.mark.parametrize(
    ("distribution", "deviation"),
    [("fixed", 0.6), ("exponential", 0.6), ("lognormal", 0.6), ("uniform", 0.6), ("pareto", 0.2)],
)
def test_what_stalls_have_beyond_a_length(
    distribution: LengthDistribution, deviation: float
) -> None:
    lengths, chance = StallLength(distribution, 2e-3, deviation), chance_of(1)
    drawn = [lengths.drawn(chance) for _ in range(100_000)]
    for beyond_s in (0.0, 1e-3, 3e-3):
        excess = [max(0.0, each - beyond_s) for each in drawn]
        longer = sum(each > beyond_s for each in drawn) / len(drawn)
        assert lengths.odds_longer(beyond_s) == pytest.approx(longer, abs=0.01)
        mean_s = sum(excess) / len(excess)
        assert lengths.mean_s - lengths.mean_up_to(beyond_s) == pytest.approx(mean_s, abs=3e-5)
        square = sum(each * each for each in excess) / len(excess)
        assert lengths.mean_square_beyond(beyond_s) == pytest.approx(square, rel=0.1, abs=1e-9)


@pytest.mark.parametrize("use", [0.1, 0.5, 0.9])
def test_exponential_stalls_find_the_queue_of_m_m_1(use: float) -> None:
    lengths = StallLength("exponential", 1e-3, 1.0)
    load_pps = 0.9e6
    brought = load_pps * 1e-3
    # What a stall brings drains in the share `use` of a gap of 1 s.
    capacity_pps = load_pps + brought / use
    queue = StalledQueue(lengths, load_pps, capacity_pps, 4 * brought, 1.0)
    # A customer's time in M/M/1 exceeds t service times with exp(-(1 - use) t), and what
    # it has beyond is as long as any.
    odds = math.exp(-(1 - use) * 4)
    assert queue.odds_of_loss == pytest.approx(odds, rel=0.03)
    assert queue.mean_loss_frames == pytest.approx(odds * brought, rel=0.2 if use > 0.5 else 0.03)


def test_stalls_apart_find_no_queue() -> None:
    queue = StalledQueue(StallLength("fixed", 5e-3, 1.0), 0.9e6, 1e6, 4000.0, None)
    assert queue.odds_of_loss == 1.0
    assert queue.mean_loss_frames == pytest.approx(500)
    assert queue.mean_square_loss == pytest.approx(250_000)
    assert StalledQueue(StallLength("fixed", 4e-3, 1.0), 0.9e6, 1e6, 4000.0, None).odds_of_loss == 0
