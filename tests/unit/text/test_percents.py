"""Whole percentages of shares."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.text.counted import whole_percents


@pytest.mark.parametrize(
    ("shares", "percents"),
    [
        ([1 / 3, 1 / 3, 1 / 3], [34, 33, 33]),
        # Each rounded by itself would make 101.
        ([0.335, 0.335, 0.33], [34, 33, 33]),
        ([0.004, 0.996], [0, 100]),
        ([0.0, 0.0], [0, 0]),
        ([], []),
    ],
)
def test_the_largest_remainders_are_rounded_up(shares: list[float], percents: list[int]) -> None:
    assert whole_percents(shares) == percents


@given(st.lists(st.floats(0.001, 1.0), min_size=1, max_size=20))
def test_they_add_up_to_100_and_none_is_off_by_one(shares: list[float]) -> None:
    found = whole_percents(shares)
    assert sum(found) == 100
    exact = [each / sum(shares) * 100 for each in shares]
    assert all(abs(a - b) < 1 + 1e-9 for a, b in zip(found, exact, strict=True))
