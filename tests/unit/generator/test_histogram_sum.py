from hypothesis import given
from hypothesis import strategies as st

from plimsoll.generator.histogram import Histogram, HistogramSum

# Values below 256 ns have a bucket each, so a histogram of them is the values themselves.
small = st.lists(st.integers(0, 255), max_size=20)


def of(values: list[int]) -> Histogram:
    if not values:
        return Histogram()
    counts = tuple(sorted((value, values.count(value)) for value in set(values)))
    return Histogram(len(values), sum(values), min(values), max(values), counts)


@given(parts=st.lists(small, max_size=6))
def test_the_sum_is_the_histogram_of_all_values(parts: list[list[int]]) -> None:
    total = HistogramSum()
    for part in parts:
        total.add(of(part))
    assert total.total == of([value for part in parts for value in part])
