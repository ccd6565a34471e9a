"""The exact interval of a median, against the tables of the sign test."""

import pytest

from plimsoll.methods.plugfest.plan import is_settled, median_interval


@pytest.mark.parametrize("count", range(6))
def test_fewer_than_six_values_bound_no_median(count: int) -> None:
    assert median_interval([1.0] * count) is None


# By how many values from each end the bounds lie: tables of the sign test at 5 %, two-sided.
@pytest.mark.parametrize(
    ("count", "rank"), [(6, 1), (8, 1), (9, 2), (12, 3), (15, 4), (20, 6), (25, 8)]
)
def test_the_bounds_are_those_of_the_tables(count: int, rank: int) -> None:
    values = [float(each) for each in range(count, 0, -1)]
    assert median_interval(values) == (rank, count + 1 - rank)


def test_settled_is_what_is_narrow_enough() -> None:
    values = [100.0, 101.0, 102.0, 99.0, 100.0, 98.0]
    # From 98 to 102 around 100: 4 %.
    assert is_settled(values, 0.04)
    assert not is_settled(values, 0.039)
    assert not is_settled(values[:5], 1.0)
    assert not is_settled([], 1.0)
