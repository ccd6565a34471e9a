"""Forecasts of the longest stall, against the distributions that the lengths were drawn from."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from plimsoll.search.load_line.stalls.tail import tail_of
from plimsoll.search.load_line.tried import Tried
from tests.unit.search.load_line.trials import tried

HOURS_S = 10_800


def _watched(length_s: Callable[[], float], count: int, seconds: int) -> Tried:
    """A stall in each of `count` intervals of a trial; its 64 longest are kept."""
    lengths = [(round(length_s() * 1e9), at) for at in range(0, seconds, seconds // count)]
    return tried(1e5, seconds, peaks_ns={at: ns for ns, at in sorted(lengths)[-64:]})


def test_without_a_peak_there_is_nothing_to_foretell() -> None:
    assert tail_of([tried(1e5, 60)]) is None


def test_stalls_that_are_all_alike_are_foretold_to_stay_so() -> None:
    tail = tail_of([_watched(lambda: 2e-3, 2160, HOURS_S)])
    assert tail is not None
    assert 2e-3 <= tail.length_s(HOURS_S, 0.95) <= 2.1e-3
    assert tail.longest_s == pytest.approx(2e-3)


def test_an_even_spread_has_an_end() -> None:
    chance = random.Random(7)  # noqa: S311
    tail = tail_of([_watched(lambda: chance.uniform(1e-3, 2e-3), 2160, HOURS_S)])
    assert tail is not None
    assert 1.99e-3 <= tail.length_s(HOURS_S, 0.95) <= 2.1e-3


def test_exponential_stalls_are_foretold_about_right() -> None:
    """Of 1080 with a mean of 1 ms, none is longer than ln(1080 ÷ 0.0513) ms with 95 %."""
    chance = random.Random(11)  # noqa: S311
    tail = tail_of([_watched(lambda: chance.expovariate(1e3), 1080, HOURS_S)])
    assert tail is not None
    right = math.log(1080 / -math.log(0.95)) * 1e-3
    assert 0.75 * right <= tail.length_s(HOURS_S, 0.95) <= 1.4 * right


def test_the_chance_rises_with_the_length_and_falls_with_the_time() -> None:
    chance = random.Random(3)  # noqa: S311
    tail = tail_of([_watched(lambda: chance.expovariate(1e3), 1080, HOURS_S)])
    assert tail is not None
    odds = [tail.chance(length, HOURS_S) for length in (6e-3, 9e-3, 15e-3)]
    assert odds == sorted(odds)
    assert tail.chance(9e-3, 2 * HOURS_S) < odds[1]


def test_what_passes_at_the_length_foretold_passes_again_with_the_chance_asked_for() -> None:
    """And not much less than that would be enough."""
    chance = random.Random(3)  # noqa: S311
    tail = tail_of([_watched(lambda: chance.expovariate(1e3), 1080, HOURS_S)])
    assert tail is not None
    length_s = tail.length_s(HOURS_S, 0.95)
    once, twice = tail.chance(length_s, HOURS_S), tail.chance(length_s, 2 * HOURS_S)
    assert once >= 0.5
    assert twice / once == pytest.approx(0.95, abs=0.001)


def test_few_stalls_are_foretold_so_that_passing_is_as_likely_as_not() -> None:
    chance = random.Random(5)  # noqa: S311
    tail = tail_of([_watched(lambda: chance.expovariate(1e3), 6, 60)])
    assert tail is not None
    assert tail.chance(tail.length_s(HOURS_S, 0.95), HOURS_S) >= 0.5 - 1e-6


def test_peaks_of_the_drain_are_no_stalls_of_the_sending() -> None:
    assert tail_of([tried(1e5, 60, peaks_ns={61: 5_000_000})]) is None
