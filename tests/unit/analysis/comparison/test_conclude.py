"""What is concluded of two samples, and what would tell where nothing is."""

import pytest

from plimsoll.analysis.comparison.conclude import FigureSample as Of
from plimsoll.analysis.comparison.conclude import conclude
from plimsoll.analysis.comparison.words import counted_conclusions, what_would_tell
from plimsoll.record.results.conclusion import Conclusion
from tests.worded.says import Says

# In kpps; four and four are the fewest for an interval, which is all of the 16 ratios.
BASE = (100.0, 100.2, 100.4, 100.6)


def of(first: tuple[float, ...], second: tuple[float, ...], within: float = 0.01) -> Conclusion:
    return conclude(Of(first), Of(second), "higher", within)


def times(factor: float) -> tuple[float, ...]:
    return tuple(each * factor for each in BASE)


@pytest.mark.parametrize(
    ("second", "kind"),
    [
        # Ratios of two values of BASE are within 0.6 %.
        (times(1.0), "same"),
        # Certainly higher, by 0.2 to 0.8 %: and still not by 1 %.
        (times(1.003), "same"),
        (times(1.02), "better"),
        (times(0.98), "worse"),
        # From -0.6 to +9.4 %.
        ((100.0, 101.0, 105.0, 110.0), "cannot tell"),
    ],
)
def test_the_whole_interval_decides(second: tuple[float, ...], kind: str) -> None:
    assert of(BASE, second).kind == kind


def test_same_is_by_the_width_given() -> None:
    assert of(BASE, BASE, within=0.0061).kind == "same"
    assert of(BASE, BASE, within=0.005).kind == "cannot tell"


def test_lower_is_better_of_latencies() -> None:
    assert conclude(Of(BASE), Of(times(1.1)), "lower", 0.01).kind == "worse"


@pytest.mark.parametrize("second", [(47.0,), (153.0, 150.0), BASE[:3]])
def test_too_few_repetitions_cannot_tell_and_say_how_many_would(second: tuple[float, ...]) -> None:
    found = of(BASE[: len(second)], second)
    assert (found.kind, found.needs) == ("cannot tell", "repetitions")
    assert (found.least_share, found.most_share) == (None, None)
    assert found.repetitions is not None
    assert found.repetitions >= 4


def test_a_side_without_values_cannot_tell() -> None:
    found = of(BASE, ())
    assert (found.kind, found.needs, found.share) == ("cannot tell", "values", None)


def test_zeros_are_held_against_each_other_in_their_own_unit() -> None:
    none = (0.0, 0.0, 0.0, 0.0)
    assert conclude(Of(none), Of(none), "lower", 0.01).kind == "same"
    some = conclude(Of(none), Of((1e-6, 2e-6, 3e-6, 4e-6)), "lower", 0.01)
    assert (some.kind, some.share) == ("worse", None)
    assert conclude(Of(none), Of((0.0, 0, 0, 1e-6)), "lower", 0.01).kind == "cannot tell"


LIMITED = (True, True, True, True)


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        # Carries at least as much as the other's most.
        (Of(BASE), Of(times(2), LIMITED), "better"),
        (Of(times(2), LIMITED), Of(BASE), "worse"),
        # May carry more than the other, and as much.
        (Of(BASE), Of(times(0.5), LIMITED), "cannot tell"),
        (Of(times(0.5), LIMITED), Of(BASE), "cannot tell"),
        # Both stopped at the search's maximum: nothing says that they are equal.
        (Of(BASE, LIMITED), Of(BASE, LIMITED), "cannot tell"),
        (Of(BASE, LIMITED), Of(times(0.5), LIMITED), "cannot tell"),
    ],
)
def test_what_the_tester_limits_is_a_lower_bound(first: Of, second: Of, kind: str) -> None:
    found = conclude(first, second, "higher", 0.01)
    assert found.kind == kind
    assert found.needs == ("reach" if kind == "cannot tell" else None)


def test_one_limited_repetition_of_many_does_not_spoil_the_rest() -> None:
    # Ten a side: the interval leaves out the 23 most extreme of 100 pairs at either end.
    base = tuple(100.0 + n / 100 for n in range(10))
    low = tuple(50.0 + n / 100 for n in range(10))
    limited = (True, *(False,) * 9)
    assert conclude(Of(base), Of(low, limited), "higher", 0.01).kind == "worse"
    limited = (*(True,) * 3, *(False,) * 7)
    assert conclude(Of(base), Of(low, limited), "higher", 0.01).kind == "cannot tell"


def test_an_interval_about_zero_is_narrowed_by_repetitions() -> None:
    wide = (90.0, 110.0, 95.0, 105.0)
    # From -18.2 to +22.2 %: for ±10 % 2.02 times as narrow, which takes 4.08 times as many.
    found = of(wide, wide, within=0.1)
    assert (found.kind, found.needs, found.repetitions) == ("cannot tell", "repetitions", 17)
    # For ±1 % it is 1,633, which is no advice.
    assert of(wide, wide).repetitions is None


def test_counts_are_apart_and_say_what_would_tell(says: Says) -> None:
    found = [
        of(BASE, times(1.02)),
        of(BASE, BASE),
        of(BASE[:1], BASE[1:2]),
        conclude(Of(BASE), Of(BASE, LIMITED), "higher", 0.01),
    ]
    text = counted_conclusions(found)
    assert text == says("1", "0", "2", "search.maximum")
    assert what_would_tell(found[:2]) == ""


BELOW = (True, True, True, True)


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        # Carries less than a third of the other's least, and perhaps nothing.
        (Of(BASE), Of((30.0,) * 4, upper_bounds=BELOW), "worse"),
        (Of((30.0,) * 4, upper_bounds=BELOW), Of(BASE), "better"),
        # May carry as much as the other, and nothing.
        (Of(BASE), Of((200.0,) * 4, upper_bounds=BELOW), "cannot tell"),
        # Neither carries anything that was tried: who carries more is not known.
        (Of((30.0,) * 4, upper_bounds=BELOW), Of((30.0,) * 4, upper_bounds=BELOW), "cannot tell"),
        # Half of them carry as much.
        (Of(BASE), Of((*BASE, *(30.0,) * 4), upper_bounds=(False,) * 4 + BELOW), "cannot tell"),
    ],
)
def test_what_carries_nothing_that_was_tried_carries_less(first: Of, second: Of, kind: str) -> None:
    assert conclude(first, second, "higher", 0.01).kind == kind
