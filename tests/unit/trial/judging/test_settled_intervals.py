from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.generator.interface import Interval
from plimsoll.trial.judging.windows import SettledIntervals
from tests.unit.trial.trial_builder import LOAD_OUT, PLAN, interval


def of(index: int, missing: int, *, sent: int = 100, received: int = 100) -> Interval:
    """An interval in which only the load on its way out does something."""
    plain = interval(index)
    return replace(
        plain,
        streams=tuple(
            replace(each, sent=sent, received=received, missing=missing)
            if each.stream == LOAD_OUT
            else each
            for each in plain.streams
        ),
    )


def settled(intervals: list[Interval]) -> list[int]:
    """What the load's intervals are missing once they are settled."""
    settling = SettledIntervals(PLAN.streams)
    handed = [*(settling.add(each) for each in intervals), settling.last()]
    return [each.streams[LOAD_OUT].missing for each in handed if each is not None]


def test_frames_that_come_late_are_taken_back_from_the_interval_before() -> None:
    assert settled([of(0, 0), of(1, 7), of(2, -5), of(3, 1)]) == [0, 2, 0, 1]


def test_no_more_is_taken_back_than_was_missing() -> None:
    assert settled([of(0, 2), of(1, -5), of(2, 0)]) == [0, -3, 0]


def test_silent_frames_are_missing_at_once_and_only_once() -> None:
    silent = [of(index, 0, received=0) for index in (1, 2, 3)]
    # The first frame that comes back shows the gap: three seconds of a hundred.
    assert settled([of(0, 0), *silent, of(4, 300)]) == [0, 0, 100, 100, 100]


def test_intervals_come_out_in_order_and_none_is_lost() -> None:
    settling = SettledIntervals(PLAN.streams)
    handed = [settling.add(of(index, 0)) for index in range(3)]
    assert handed[0] is None
    assert [each.index for each in (*handed[1:], settling.last()) if each] == [0, 1, 2]
    assert settling.last() is None


@given(missing=st.lists(st.integers(-50, 50), min_size=1, max_size=12))
def test_nothing_is_lost_or_found_by_settling(missing: list[int]) -> None:
    assert sum(settled([of(n, each) for n, each in enumerate(missing)])) == sum(missing)
