"""Which losses a stall explains, and when a trial is hopeless."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.dut.lab import DrainedBy
from plimsoll.generator.interface import Interval
from plimsoll.trial.criteria.loss_ratio import LossRatio
from plimsoll.trial.early_abort import EarlyAbort
from plimsoll.trial.stall_excuses import StallExcuses
from tests.unit.trial.trial_builder import LOAD_BACK, LOAD_OUT, PLAN, interval

MS = 1_000_000
# A stall of a millisecond excuses 100 frames at 100 kpps and as many in the burst after.
PER_MS = 200


def _excuses(intervals: Sequence[Interval]) -> StallExcuses:
    excuses = StallExcuses(PLAN.streams, "wire")
    for each in intervals:
        excuses.add(each)
    return excuses


@pytest.mark.parametrize(
    ("intervals", "unexcused"),
    [
        ([interval(0, lost=30)], 30),
        ([interval(0, lost=30, stalled_ns=MS)], 0),
        # In the interval after it, and no later.
        ([interval(0, stalled_ns=MS), interval(1, lost=30)], 0),
        ([interval(0, stalled_ns=MS), interval(1), interval(2, lost=30)], 30),
        # A stall short of a millisecond excuses nothing, however often it comes.
        ([interval(0, lost=30, stalled_ns=5 * MS, worst_stall_ns=MS - 1)], 30),
        # Never more than can have come meanwhile.
        ([interval(0, lost=PER_MS + 5, stalled_ns=MS)], 5),
        ([interval(0, lost=150, stalled_ns=MS), interval(1, lost=150)], 2 * 150 - PER_MS),
        # Before the stall.
        ([interval(0, lost=30), interval(1, stalled_ns=9 * MS)], 30),
        # Frames late rather than lost fill their gaps.
        ([interval(0, lost=30), interval(1, lost=-30)], 0),
    ],
)
def test_a_stall_excuses_what_it_can_have_cost(intervals: list[Interval], unexcused: int) -> None:
    assert _excuses(intervals).unexcused(LOAD_OUT) == unexcused
    assert _excuses(intervals).unexcused(LOAD_BACK) == 0


def test_frames_lost_after_the_last_that_came_back_are_excused_by_the_last_stalls() -> None:
    """They leave no gap in the sequence, so no interval has them."""
    still = [interval(0), interval(1), interval(2, drain=True)]
    assert _excuses(still).unexcused_of(LOAD_OUT, 40) == 40
    stalled = [interval(0), interval(1, stalled_ns=MS), interval(2, drain=True)]
    assert _excuses(stalled).unexcused_of(LOAD_OUT, 40) == 0
    assert _excuses(stalled).unexcused_of(LOAD_OUT, PER_MS + 40) == 40


_intervals = st.lists(
    st.tuples(st.integers(-50, 2000), st.integers(0, 20 * MS), st.booleans()), max_size=12
).map(
    lambda drawn: [
        interval(index, lost, stalled_ns, drain=drain)
        for index, (lost, stalled_ns, drain) in enumerate(drawn)
    ]
)


@given(_intervals)
def test_all_stalls_together_excuse_no_more_than_their_length(intervals: list[Interval]) -> None:
    lost = sum(each.streams[LOAD_OUT].missing for each in intervals)
    stalled_ns = sum(each.workers[0].stalled_ns for each in intervals)
    excused = lost - _excuses(intervals).unexcused(LOAD_OUT)
    # Rounded up to a whole frame in each interval.
    assert 0 <= excused <= PER_MS * stalled_ns / MS + len(intervals)


def _stops_at(intervals: Sequence[Interval]) -> int | None:
    """The index of the interval at which the trial is stopped."""
    abort = EarlyAbort(PLAN, [LossRatio()], "wire")
    return next((each.index for each in intervals if abort(each)), None)


def test_a_trial_is_stopped_once_it_has_lost_more_than_it_may() -> None:
    """20.2 frames of the whole trial: exceeded in the second interval, and still in the third."""
    assert _stops_at([interval(0, 15), interval(1, 15), interval(2), interval(3)]) == 2


def test_a_trial_within_its_budget_goes_on() -> None:
    assert _stops_at([interval(n, 2) for n in range(10)]) is None


def test_gaps_that_fill_up_again_stop_nothing() -> None:
    assert _stops_at([interval(n, 500 if n % 2 == 0 else -500) for n in range(10)]) is None


def test_losses_in_stalls_stop_nothing() -> None:
    assert _stops_at([interval(n, 100, stalled_ns=MS) for n in range(10)]) is None


@pytest.mark.parametrize(("drained_by", "stops"), [("dut", True), ("wire", False)])
def test_frames_refused_count_where_the_dut_drains(drained_by: DrainedBy, stops: bool) -> None:
    quiet = interval(0)
    refusing = replace(quiet.streams[LOAD_OUT], refused=500)
    abort = EarlyAbort(PLAN, [LossRatio()], drained_by)
    abort(replace(quiet, streams=(refusing, *quiet.streams[1:])))
    assert abort(interval(1)) is stops


def test_without_a_loss_criterion_nothing_is_stopped() -> None:
    abort = EarlyAbort(PLAN, [], "wire")
    assert not any(abort(interval(n, 10_000)) for n in range(5))
