"""What rare events lose together, against closed forms and against drawing it."""

from __future__ import annotations

import math
import random

import pytest

from plimsoll.search.load_line.allowed_loss.compound import CompoundSum, LosingEvents

DRAWS = 6000
# Four standard errors of a share of so many draws, and what the grid may add.
NEAR = 4.0 * math.sqrt(0.25 / DRAWS) + 0.006


def _poisson(expected: float, most: int) -> float:
    """The probability of at most so many events."""
    return sum(
        math.exp(count * math.log(expected) - expected - math.lgamma(count + 1))
        for count in range(most + 1)
    )


@pytest.mark.parametrize(
    ("expected", "budget", "most"), [(3.0, 2500.0, 2), (0.4, 1500.0, 1), (25.0, 30_500.0, 30)]
)
def test_absences_of_one_length_are_counted(expected: float, budget: float, most: int) -> None:
    """Each loses 1000 frames, so that of 2500 frames two are within the budget, and three not."""
    events = [LosingEvents(expected, 1000.0)]
    assert CompoundSum(budget, events).odds_within() == pytest.approx(
        _poisson(expected, most), abs=0.01
    )


@pytest.mark.parametrize(("expected", "most"), [(200.0, 210), (900.0, 860)])
def test_many_absences_of_one_length_are_counted_as_well(expected: float, most: int) -> None:
    events = [LosingEvents(expected, 1000.0)]
    budget = 1000.0 * (most + 0.5)
    assert CompoundSum(budget, events).odds_within() == pytest.approx(
        _poisson(expected, most), abs=0.004
    )


def test_without_a_budget_none_may_come() -> None:
    events = [LosingEvents(0.3, 20.0), LosingEvents(0.2, 4000.0)]
    assert CompoundSum(0.0, events).odds_within() == pytest.approx(math.exp(-0.5))
    assert CompoundSum(0.0, []).odds_within() == 1.0


def test_a_direction_that_has_none_of_the_events_loses_nothing() -> None:
    assert CompoundSum(2500.0, [LosingEvents(3.0, 1000.0)]).odds_within(0.0) == 1.0


def test_what_is_too_much_alone_may_not_come() -> None:
    events = [LosingEvents(0.2, 4000.0), LosingEvents(0.001, 10.0)]
    assert CompoundSum(3000.0, events).odds_within() == pytest.approx(math.exp(-0.2), rel=1e-6)


@pytest.mark.parametrize("expected", [0.7, 6.0, 24.0])
def test_exponential_losses_have_the_sum_of_erlang(expected: float) -> None:
    """A sum of n has it below b with the odds of n Poisson events or more in b / mean."""
    mean, budget = 1000.0, 1000.0 * (expected + math.sqrt(2.0 * expected))
    events = [
        LosingEvents(expected / 200, -mean * math.log((place + 0.5) / 200)) for place in range(200)
    ]
    sums = [1.0, *(1.0 - _poisson(budget / mean, count - 1) for count in range(1, 150))]
    odds = sum(
        math.exp(count * math.log(expected) - expected - math.lgamma(count + 1)) * below
        for count, below in enumerate(sums)
    )
    assert CompoundSum(budget, events).odds_within() == pytest.approx(odds, abs=0.006)


@pytest.mark.parametrize("expected", [1.5, 12.0, 60.0])
def test_losses_of_any_size_are_as_likely_as_when_they_are_drawn(expected: float) -> None:
    """Most lose from 10 to 500 frames, and one of ten loses 3000."""
    chance = random.Random(11)  # noqa: S311 - a simulation to compare with
    sizes = [10.0 + 49.0 * step for step in range(9)] + [3000.0]
    sums = sorted(sum(_drawn(chance, expected, sizes)) for _ in range(DRAWS))
    events = [LosingEvents(expected / len(sizes), size) for size in sizes]
    for share in (0.2, 0.5, 0.95):
        # Between the sizes of sums, of which no grid tells one from the next.
        budget = sums[int(share * DRAWS)] + 7.0
        drawn = sum(each <= budget for each in sums) / DRAWS
        assert CompoundSum(budget, events).odds_within() == pytest.approx(drawn, abs=NEAR)


def _drawn(chance: random.Random, expected: float, sizes: list[float]) -> list[float]:
    found: list[float] = []
    at = chance.expovariate(1.0)
    while at < expected:
        found.append(chance.choice(sizes))
        at += chance.expovariate(1.0)
    return found


@pytest.mark.parametrize("expected", [2.0, 20.0, 300.0])
def test_more_events_and_less_budget_are_less_likely(expected: float) -> None:
    events = [LosingEvents(expected / 3, size) for size in (100.0, 400.0, 900.0)]
    lost = CompoundSum(expected * 500.0, events)
    by_factor = [lost.odds_within(factor) for factor in (0.5, 0.8, 1.0, 1.2, 2.0)]
    assert by_factor == sorted(by_factor, reverse=True)
    budgets = [expected * each for each in (200.0, 400.0, 500.0, 600.0, 3000.0)]
    by_budget = [CompoundSum(budget, events).odds_within() for budget in budgets]
    assert by_budget == sorted(by_budget)
    assert by_budget[-1] > 0.99
