"""Change points: what is found, where, and how often where there is nothing to find."""

from __future__ import annotations

import math
from itertools import combinations, pairwise, permutations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.analysis.comparison.trend.change_points import (
    LEVEL,
    _Stretch,
    bounded_scores,
    change_points,
)

NOISE = 0.005


def singles(values: list[float]) -> list[list[float]]:
    return [[value] for value in values]


def noisy(random: Random, level: float, count: int) -> list[float]:
    return [random.gauss(level, NOISE * level) for _ in range(count)]


def places(values: list[list[float]]) -> list[int]:
    return [each.release for each in change_points(values)]


def test_a_drop_of_two_percent_among_thirty_runs_is_found_where_it_is() -> None:
    for seed in range(3):
        random = Random(seed)  # noqa: S311
        series = [*noisy(random, 3.0e6, 18), *noisy(random, 0.98 * 3.0e6, 12)]
        (change,) = change_points(singles(series))
        # A step of four standard deviations: at most one run lies on the other side of it.
        assert abs(change.release - 18) <= 1
        assert change.p <= LEVEL


def test_a_step_from_12_to_14_us_is_found_among_skewed_latencies() -> None:
    for seed in range(3):
        random = Random(seed)  # noqa: S311
        before = [12_000 * math.exp(random.gauss(0, 0.03)) for _ in range(20)]
        after = [14_000 * math.exp(random.gauss(0, 0.03)) for _ in range(10)]
        (change,) = change_points(singles([*before, *after]))
        assert abs(change.release - 20) <= 1


def test_one_run_far_out_neither_is_a_change_nor_hides_one() -> None:
    random = Random(1)  # noqa: S311
    series = noisy(random, 100, 30)
    series[12] = 20
    assert places(singles(series)) == []
    series[20:] = noisy(random, 97, 10)
    assert places(singles(series)) == [20]


def test_a_step_down_that_was_repaired_is_two_changes() -> None:
    random = Random(2)  # noqa: S311
    series = [*noisy(random, 100, 13), *noisy(random, 97, 6), *noisy(random, 100, 13)]
    assert places(singles(series)) == [13, 19]


def test_a_staircase_is_followed_step_by_step() -> None:
    random = Random(3)  # noqa: S311
    series = [value for level in (100, 97, 94) for value in noisy(random, level, 10)]
    assert places(singles(series)) == [10, 20]


def test_repetitions_are_one_release() -> None:
    random = Random(4)  # noqa: S311
    releases = [noisy(random, 100 if n < 5 else 98, 3 + n % 2) for n in range(8)]
    assert places(releases) == [5]


def test_the_same_runs_give_the_same_answer() -> None:
    random = Random(5)  # noqa: S311
    series = singles([*noisy(random, 100, 15), *noisy(random, 99, 15)])
    assert change_points(series) == change_points(series)


@pytest.mark.full
def test_of_two_hundred_series_of_noise_no_more_have_a_change_than_stated() -> None:
    random = Random(20261123)  # noqa: S311
    shapes = [
        lambda: random.gauss(100, 1),
        lambda: random.lognormvariate(0, 0.4),
        lambda: random.gauss(0, 1) / max(abs(random.gauss(0, 1)), 0.05),
        lambda: float(random.randrange(3)),
    ]
    series = [[shapes[n % 4]() for _ in range(30)] for n in range(200)]
    found = sum(bool(change_points(singles(each))) for each in series)
    assert found <= 200 * LEVEL


@pytest.mark.parametrize(
    "series",
    [
        [],
        [[1.0, 2.0, 3.0] * 5],
        singles([1.0] * 40),
        # Five and four: 2 of 126 orders hold the greater together, which is above LEVEL.
        singles([1.0, 1.1, 1.2, 1.3, 1.4, 9.0, 9.1, 9.2, 9.3]),
    ],
    ids=["nothing", "one release", "all equal", "nine runs"],
)
def test_where_nothing_can_be_said_nothing_is(series: list[list[float]]) -> None:
    assert change_points(series) == ()


@given(
    st.lists(st.lists(st.integers(0, 9).map(float), min_size=1, max_size=4), min_size=3, max_size=7)
)
@settings(max_examples=60, deadline=None)
def test_the_best_division_never_parts_the_runs_of_a_release(releases: list[list[float]]) -> None:
    scores = [value for release in releases for value in release]
    stretch = _Stretch([len(release) for release in releases], scores)
    greatest = [_greatest_gain(releases, parts) for parts in (2, 3)]
    assert [gain for gain, _ in stretch._divisions()] == pytest.approx(greatest, abs=1e-6)
    # What shuffled series are held against is found another way.
    sums = stretch._sums(stretch._scores).cumsum()
    assert stretch._greatest_gains(sums[None, :])[0].tolist() == pytest.approx(greatest, abs=1e-6)


def _greatest_gain(releases: list[list[float]], parts: int) -> float:
    """By trying every division between releases."""
    everything = [value for release in releases for value in release]
    mean = sum(everything) / len(everything)
    gains = []
    for inner in combinations(range(1, len(releases)), parts - 1):
        starts = [0, *inner, len(releases)]
        groups = [
            [value for release in releases[a:b] for value in release] for a, b in pairwise(starts)
        ]
        gains.append(sum(len(g) * (sum(g) / len(g) - mean) ** 2 for g in groups))
    return max(gains)


def test_p_agrees_with_all_orders_of_a_series_that_is_short_enough_to_try_them() -> None:
    values = [0.0, 1.0, 5.0, 6.0, 7.0]
    stretch = _Stretch([1] * 5, values)
    observed = _greatest_gain(singles(values), 2), _greatest_gain(singles(values), 3)
    orders = [
        (_greatest_gain(singles(list(each)), 2), _greatest_gain(singles(list(each)), 3))
        for each in permutations(values)
    ]

    def chance(pair: tuple[float, float]) -> float:
        of_each = [
            sum(other[k] >= pair[k] - 1e-9 for other in orders) / len(orders) for k in (0, 1)
        ]
        return min(of_each)

    known = {pair: chance(pair) for pair in set(orders)}
    exact = sum(known[each] <= known[observed] for each in orders) / len(orders)
    assert stretch.test(4999).p == pytest.approx(exact, abs=0.02)


def test_scores_are_robust_deviations_and_bounded() -> None:
    # The median is 4; the absolute distances are 0 1 1 2 96, whose median is 1.
    assert bounded_scores([3.0, 4.0, 5.0, 2.0, 100.0]) == pytest.approx(
        [-0.6745, 0, 0.6745, -1.349, 3]
    )


def test_where_most_values_are_equal_the_others_are_at_the_bound() -> None:
    assert bounded_scores([0.0, 0.0, 0.0, 2e-6, -1.0]) == [0, 0, 0, 3, -3]
