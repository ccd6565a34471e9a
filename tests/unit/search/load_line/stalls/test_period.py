"""Regular and random times told apart."""

from __future__ import annotations

import random

import pytest

from plimsoll.search.load_line.stalls.arrivals import period_of


def test_what_comes_every_37_s_has_that_period() -> None:
    assert period_of([[5.0 + 37 * number for number in range(13)]]) == pytest.approx(37)


def test_a_little_jitter_is_allowed() -> None:
    chance = random.Random(5)  # noqa: S311
    times_s = [37 * number + chance.uniform(-1, 1) for number in range(36)]
    assert period_of([times_s]) == pytest.approx(37, rel=0.01)


def test_one_that_was_not_seen_leaves_a_gap_of_two_periods() -> None:
    assert period_of([[37.0 * n for n in range(20) if n not in {4, 11, 12}]]) == pytest.approx(37)


def test_trials_need_not_begin_at_the_same_phase() -> None:
    early = [3.0 + 37 * number for number in range(7)]
    late = [21.0 + 37 * number for number in range(8)]
    assert period_of([early, late]) == pytest.approx(37)


def test_twelve_gaps_are_needed() -> None:
    assert period_of([[37.0 * number for number in range(12)]]) is None
    assert period_of([[1.0], [2.0], []]) is None


def test_times_that_vary_by_a_third_are_no_period() -> None:
    chance = random.Random(6)  # noqa: S311
    times_s = [37 * number + chance.uniform(-12, 12) for number in range(100)]
    assert period_of([sorted(times_s)]) is None


def test_random_times_have_none() -> None:
    chance = random.Random(7)  # noqa: S311
    for _ in range(2000):
        times_s = [0.0]
        for _ in range(12):
            times_s.append(times_s[-1] + chance.expovariate(1.0))
        assert period_of([times_s]) is None


def test_what_comes_all_at_once_has_none() -> None:
    assert period_of([[1.0] * 30]) is None
