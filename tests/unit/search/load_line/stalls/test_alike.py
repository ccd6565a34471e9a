"""Two sets of lengths that are told apart, or not, by hand."""

from __future__ import annotations

from plimsoll.search.load_line.stalls.arrivals import alike


def test_what_does_not_overlap_differs() -> None:
    """The distributions are 1 apart; of ten and ten, 1.628 · √0.2 = 0.73 would be alike."""
    assert not alike([1.0 + n / 100 for n in range(10)], [2.0 + n / 100 for n in range(10)])


def test_the_same_lengths_are_alike() -> None:
    assert alike([1.0, 2.0, 3.0], [3.0, 2.0, 1.0])


def test_of_few_that_differ_it_cannot_be_said() -> None:
    """Of four and four, even a difference of 1 is below 1.628 · √0.5 = 1.15."""
    assert alike([1.0] * 4, [2.0] * 4)


def test_the_limit_lies_where_the_two_sizes_put_it() -> None:
    """100 and 100: 1.628 · √0.02 = 0.230."""
    low = [float(n) for n in range(100)]
    assert alike(low, [n + 23.0 for n in low])
    assert not alike(low, [n + 24.0 for n in low])
