"""What the pacing benchmark says of gaps, on gaps whose figures are known by hand."""

from math import exp, log

import pytest

from engine.bench.gap_figures import (
    distance_from_exponential,
    gaps_between_bursts,
    percent_within,
)


def test_shares_include_the_bounds_themselves() -> None:
    gaps = [936.0, 1064.0, 1064.1, 1000.0, 872.0, 0.0, 5000.0, 1128.5]
    assert percent_within(gaps, 1000, (64, 128, 256)) == [37.5, 62.5, 75.0]


def test_a_burst_begins_after_a_gap_of_more_than_half_the_ideal() -> None:
    # Frames at 0 1 2 | 100 101 102 | 203 204 | 290 291; the last of the third burst was lost.
    gaps = [1.0, 1.0, 98.0, 1.0, 1.0, 101.0, 1.0, 86.0, 1.0]
    # Whether the first burst was seen from its beginning is not known.
    assert gaps_between_bursts(gaps, ideal=100) == [103.0, 87.0]


@pytest.mark.parametrize("count", [1, 10, 1000])
def test_an_exponential_sample_is_as_near_as_its_size_allows(count: int) -> None:
    """The middles of equal shares of the distribution are half a share off at the most."""
    gaps = [-500 * log(1 - (number + 0.5) / count) for number in range(count)]
    assert distance_from_exponential(gaps[::-1], 500) == pytest.approx(0.5 / count)


def test_equal_gaps_are_far_from_exponential() -> None:
    # At the mean the exponential has 1 - 1/e behind it, equal gaps have nothing.
    assert distance_from_exponential([500.0] * 100, 500) == pytest.approx(1 - exp(-1))
