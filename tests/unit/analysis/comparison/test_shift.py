"""The shift between samples, against published figures."""

from math import comb

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from plimsoll.analysis.comparison.conclude import shift
from tests.worded.says import Says

VALUES = st.lists(st.integers(-1000, 1000).map(float), min_size=1, max_size=12)


def test_the_published_example() -> None:
    # Hollander, Wolfe and Chicken, examples 4.1 to 4.4: permeability of membranes at term, and
    # at 12 to 26 weeks; R's wilcox.test(x, y, conf.int = TRUE) gives the same.
    term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
    early = [1.15, 0.88, 0.90, 0.74, 1.21]
    found = shift(early, term)
    assert found.estimate == pytest.approx(0.305)
    assert (found.least, found.most) == (pytest.approx(-0.15), pytest.approx(0.76))
    assert not found.is_certain


@pytest.mark.parametrize(
    ("first", "second", "critical"),
    # The largest U that is significant at 5 %, two-sided, in the usual tables.
    [(4, 4, 0), (3, 5, 0), (5, 5, 2), (8, 8, 13), (7, 12, 18), (10, 10, 23), (20, 20, 127)],
)
def test_the_bounds_are_at_the_critical_values_of_the_tables(
    first: int, second: int, critical: int
) -> None:
    # No two pairwise differences are equal, so a bound tells its rank.
    low = [float(each) for each in range(first)]
    high = [1000.0 * (each + 1) for each in range(second)]
    found = shift(low, high)
    differences = sorted(after - before for before in low for after in high)
    assert found.least == differences[critical]
    assert found.most == differences[-critical - 1]


@pytest.mark.parametrize(("first", "second"), [(1, 1), (1, 30), (2, 5), (3, 4)])
def test_too_few_values_bound_nothing(first: int, second: int) -> None:
    # The most extreme of all orders is still likelier than 2.5 %.
    assert comb(first + second, first) < 40
    found = shift([1.0] * first, [2.0 + each for each in range(second)])
    assert (found.least, found.most, found.is_certain) == (None, None, False)
    assert found.repetitions is not None
    assert found.repetitions >= 4


def test_what_hardly_differs_needs_no_number_of_repetitions() -> None:
    assert shift([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]).repetitions is None


def test_repetitions_by_noether() -> None:
    # In 12 of 16 pairs the second is larger: (1.96 + 0.84)^2 / (6 * 0.25^2) = 20.9.
    assert shift([1.0, 2.0, 3.0, 4.0], [0.5, 5.0, 6.0, 7.0]).repetitions == 21


def test_no_value_has_no_shift(says: Says) -> None:
    with pytest.raises(ValueError) as caught:
        shift([], [1.0])
    assert caught.value == says()


# A lead of a twentieth, which is just enough: as a share, 0.55 and 0.45 round apart.
@example([0.0], [0.0] * 9 + [1.0])
@given(VALUES, VALUES)
def test_the_other_way_round_it_is_the_opposite(first: list[float], second: list[float]) -> None:
    there, back = shift(first, second), shift(second, first)
    assert there.estimate == pytest.approx(-back.estimate)
    assert there.repetitions == back.repetitions
    if there.least is None or there.most is None:
        assert back.least is None
    else:
        assert (back.least, back.most) == (-there.most, -there.least)
        assert there.least <= there.estimate <= there.most


POSITIVE = st.lists(st.floats(1.0, 1e4), min_size=1, max_size=9)


# Latencies by which "+34.36 % (-839.92 % to +1305.50 %)" was once said: of 1 to 15 a share of
# the difference is -14 / 1.67, and no latency falls by more than all of itself.
@example([1.0, 1.5, 1.84, 15.0], [1.2, 1.9, 2.6, 14.0])
@given(POSITIVE, POSITIVE)
def test_a_share_is_never_below_minus_100_percent(first: list[float], second: list[float]) -> None:
    there, back = shift(first, second).relative, shift(second, first).relative
    assert there is not None
    assert back is not None
    assert there.estimate > -1
    # Twice as much the one way is half as much the other.
    assert (1 + there.estimate) * (1 + back.estimate) == pytest.approx(1)
    if there.least is not None and there.most is not None and back.most is not None:
        assert -1 < there.least <= there.estimate + 1e-9 <= there.most + 2e-9
        assert (1 + there.least) * (1 + back.most) == pytest.approx(1)


def test_what_is_not_positive_has_no_share() -> None:
    assert shift([0.0, 1.0], [2.0, 3.0]).relative is None
