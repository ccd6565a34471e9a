"""Sets of times, against sets of single ticks."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.attribution.incidents.spans import TickSpan, common, ticks, union, within

SPANS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=8)


def _set(spans: list[TickSpan]) -> set[int]:
    return {tick for begin, end in spans for tick in range(begin, end)}


@given(st.lists(SPANS, min_size=1, max_size=3), st.integers(0, 40), st.integers(0, 40))
def test_they_are_sets(lists: list[list[TickSpan]], begin: int, end: int) -> None:
    unions = [union(spans) for spans in lists]
    sets = [_set(spans) for spans in lists]
    assert [_set(list(each)) for each in unions] == sets
    assert ticks(unions[0]) == len(sets[0])
    assert _set(list(common(unions))) == set.intersection(*sets)
    assert _set(list(within(unions[0], begin, end))) == sets[0] & set(range(begin, end))
    assert all(one[1] < other[0] for each in unions for one, other in pairwise(each))


def test_no_set_has_nothing_in_common() -> None:
    assert common([]) == ()
