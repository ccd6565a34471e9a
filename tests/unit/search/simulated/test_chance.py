"""Draws of counts, against the distributions' own means and variances."""

from __future__ import annotations

import math
from statistics import fmean, pvariance

import pytest

from plimsoll.search.simulated.chance import binomial, geometric_sum, poisson
from tests.unit.generator.simulated.driving import chance_of

DRAWS = 4000


def assert_like(drawn: list[int], mean: float, variance: float) -> None:
    """Within five standard errors of the mean, and a quarter of the variance."""
    assert fmean(drawn) == pytest.approx(mean, abs=5 * math.sqrt(variance / DRAWS) + 1e-9)
    assert pvariance(drawn) == pytest.approx(variance, rel=0.25, abs=1e-9)


@pytest.mark.parametrize("mean", [0.01, 0.7, 12.0, 49.0, 51.0, 3000.0])
def test_poisson(mean: float) -> None:
    chance = chance_of(1)
    assert_like([poisson(chance, mean) for _ in range(DRAWS)], mean, mean)


@pytest.mark.parametrize(
    ("trials", "share"), [(1, 0.3), (40, 0.02), (40, 0.97), (1000, 0.5), (10**9, 1e-8)]
)
def test_binomial(trials: int, share: float) -> None:
    chance = chance_of(2)
    drawn = [binomial(chance, trials, share) for _ in range(DRAWS)]
    assert_like(drawn, trials * share, trials * share * (1 - share))
    assert all(0 <= count <= trials for count in drawn)


@pytest.mark.parametrize(("trials", "share", "count"), [(0, 0.5, 0), (5, 0.0, 0), (5, 1.0, 5)])
def test_binomials_without_chance(trials: int, share: float, count: int) -> None:
    assert binomial(chance_of(3), trials, share) == count


@pytest.mark.parametrize(("events", "mean"), [(1, 3.0), (7, 20.0), (400, 5.0)])
def test_geometric_sums(events: int, mean: float) -> None:
    chance = chance_of(4)
    drawn = [geometric_sum(chance, events, mean) for _ in range(DRAWS)]
    # A geometric count from 1 on has the variance mean (mean - 1).
    assert_like(drawn, events * mean, events * mean * (mean - 1))
    assert min(drawn) >= events


def test_a_mean_of_one_is_one_each() -> None:
    assert geometric_sum(chance_of(5), 17, 1.0) == 17
