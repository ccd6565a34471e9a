"""The slope, by hand and against a plain computation."""

from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.search.evidence.theil_sen import theil_sen


def test_a_line_has_its_slope_and_a_few_wild_values_do_not_move_it() -> None:
    line = [(float(x), 5.0 + 3 * x) for x in range(50)]
    assert theil_sen(line) == pytest.approx(3)
    wild = [(x, 1e9 if x in (7, 30) else y) for x, y in line]
    assert theil_sen(wild) == pytest.approx(3, rel=0.01)


def test_too_few_points_have_none() -> None:
    assert theil_sen([(0, 1), (1, 2)]) is None
    assert theil_sen([]) is None


def test_a_long_series_is_thinned_evenly() -> None:
    """Every 144th second of eight hours: 200 points, a queue that grows by 2 ns a second."""
    assert theil_sen([(float(s), 7000 + 2.0 * s) for s in range(28_800)]) == pytest.approx(2)


@given(st.lists(st.integers(0, 10_000), min_size=3, max_size=30))
def test_it_is_the_median_of_all_slopes(values: list[int]) -> None:
    slopes = [(values[j] - values[i]) / (j - i) for j in range(len(values)) for i in range(j)]
    assert theil_sen(list(enumerate(values))) == median(slopes)
