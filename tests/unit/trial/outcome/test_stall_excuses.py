"""Which losses a stall explains, and when a trial is hopeless."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.dut.lab import DrainedBy
from plimsoll.generator.interface import Interval, LossesLeftOut, LossEvent
from plimsoll.traffic.plan import Pacing, StreamPlan
from plimsoll.trial.criteria.loss_ratio import LossRatio
from plimsoll.trial.judging.early_abort import EarlyAbort
from plimsoll.trial.outcome.due_frames import StallExcuses
from tests.unit.trial.trial_builder import (
    LOAD_BACK,
    LOAD_OUT,
    PLAN,
    QUEUE_FRAMES,
    interval,
    stream_counts,
)

MS = 1_000_000


def _excuses(intervals: Sequence[Interval]) -> StallExcuses:
    excuses = StallExcuses(PLAN.streams, "wire", QUEUE_FRAMES)
    for each in intervals:
        excuses.add(each)
    return excuses


@pytest.mark.parametrize(
    ("intervals", "unexcused"),
    [
        ([interval(0, lost=30)], 30),
        ([interval(0, lost=30, stalls_ns=[2 * MS])], 0),
        # In the interval after it, and no later.
        ([interval(0, stalls_ns=[2 * MS]), interval(1, lost=30)], 0),
        ([interval(0, stalls_ns=[2 * MS]), interval(1), interval(2, lost=30)], 30),
        # What comes in a stall of 1 ms fits into the queue, however often it happens.
        ([interval(0, lost=30, stalls_ns=[MS] * 16)], 30),
        # Never more than cannot have fitted: 101 of each stall of 2 ms.
        ([interval(0, lost=106, stalls_ns=[2 * MS])], 5),
        ([interval(0, lost=207, stalls_ns=[2 * MS, 2 * MS])], 5),
        ([interval(0, lost=80, stalls_ns=[2 * MS]), interval(1, lost=80)], 2 * 80 - 101),
        # Before the stall.
        ([interval(0, lost=30), interval(1, stalls_ns=[9 * MS])], 30),
        # Frames late rather than lost fill their gaps.
        ([interval(0, lost=30), interval(1, lost=-30)], 0),
    ],
)
def test_a_stall_excuses_what_its_queue_cannot_have_held(
    intervals: list[Interval], unexcused: int
) -> None:
    assert _excuses(intervals).unexcused(LOAD_OUT) == unexcused
    assert _excuses(intervals).unexcused(LOAD_BACK) == 0


def _gap(frames: int, after_tsc: int | None, seen_tsc: int, filled: int = 0) -> LossEvent:
    return LossEvent(7, frames + filled, filled, after_tsc, seen_tsc - 5, seen_tsc)


def _stalled(*gaps: LossEvent, end_tsc: int = 1000, left_out: int = 0) -> Interval:
    """Away for 2 ms until `end_tsc`, which can have cost 101 frames."""
    frames = sum(each.lost for each in gaps) + left_out
    stalled = interval(0, lost=frames, stalls_ns=[2 * MS])
    (stall,) = stalled.workers[0].longest
    worker = replace(stalled.workers[0], longest=(replace(stall, tsc=end_tsc),))
    streams = tuple(
        replace(each, losses=gaps, losses_left_out=LossesLeftOut(1, left_out))
        if each.stream == LOAD_OUT
        else each
        for each in stalled.streams
    )
    return replace(stalled, workers=(worker,), streams=streams)


@pytest.mark.parametrize(
    ("gaps", "left_out", "unexcused"),
    [
        ([_gap(30, 900, 1001)], 0, 0),
        ([_gap(30, 1000, 1000)], 0, 0),
        ([_gap(30, None, 1001)], 0, 0),
        # Seen before the stall ended, and sent after it.
        ([_gap(30, 900, 999)], 0, 30),
        ([_gap(30, 1001, 1100)], 0, 30),
        ([_gap(30, 900, 1001), _gap(20, 1500, 1600)], 0, 20),
        ([_gap(30, 900, 1001, filled=4), _gap(20, 1500, 1600)], 0, 20),
        # Of gaps that the interval does not list nothing is known.
        ([_gap(20, 1500, 1600)], 9, 20),
        ([_gap(200, 900, 1001)], 0, 99),
    ],
)
def test_a_stall_excuses_gaps_around_its_end_and_no_others(
    gaps: list[LossEvent], left_out: int, unexcused: int
) -> None:
    assert _excuses([_stalled(*gaps, left_out=left_out)]).unexcused(LOAD_OUT) == unexcused


@pytest.mark.parametrize(("after_tsc", "unexcused"), [(990, 0), (1010, 30)])
def test_a_gap_may_be_seen_in_the_interval_after_the_stall(after_tsc: int, unexcused: int) -> None:
    late = interval(1, lost=30)
    streams = tuple(
        replace(each, losses=(_gap(30, after_tsc, 2000),)) if each.stream == LOAD_OUT else each
        for each in late.streams
    )
    excuses = _excuses([_stalled(), replace(late, streams=streams)])
    assert excuses.unexcused(LOAD_OUT) == unexcused


def test_frames_lost_after_the_last_that_came_back_are_excused_by_the_last_stalls() -> None:
    """They leave no gap in the sequence, so no interval has them."""
    still = [interval(0), interval(1), interval(2, drain=True)]
    assert _excuses(still).unexcused_of({LOAD_OUT: 40}) == {LOAD_OUT: 40}
    stalled = [interval(0), interval(1, stalls_ns=[2 * MS]), interval(2, drain=True)]
    assert _excuses(stalled).unexcused_of({LOAD_OUT: 40}) == {LOAD_OUT: 0}
    assert _excuses(stalled).unexcused_of({LOAD_OUT: 140}) == {LOAD_OUT: 39}


_intervals = st.lists(
    st.tuples(
        st.integers(-50, 2000), st.lists(st.integers(0, 20 * MS), max_size=16), st.booleans()
    ),
    max_size=12,
).map(
    lambda drawn: [
        interval(index, lost, stalls_ns=stalls_ns, drain=drain)
        for index, (lost, stalls_ns, drain) in enumerate(drawn)
    ]
)


@given(_intervals)
def test_all_stalls_together_excuse_no_more_than_came_during_them(
    intervals: list[Interval],
) -> None:
    lost = sum(each.streams[LOAD_OUT].missing for each in intervals)
    workers = [each.workers[0] for each in intervals]
    excused = lost - _excuses(intervals).unexcused(LOAD_OUT)
    came = sum(101 * worker.stalled_ns / MS for worker in workers)
    # Rounded up to a whole frame for each stall.
    assert 0 <= excused <= came + sum(worker.stalls for worker in workers)


def _stops_at(intervals: Sequence[Interval]) -> int | None:
    """The index of the interval at which the trial is stopped."""
    abort = EarlyAbort(PLAN, [LossRatio()], "wire", QUEUE_FRAMES)
    return next((each.index for each in intervals if abort(each)), None)


def test_a_trial_is_stopped_once_it_has_lost_more_than_it_may() -> None:
    """20.2 frames of the whole trial: exceeded in the second interval, and still in the third."""
    assert _stops_at([interval(0, 15), interval(1, 15), interval(2), interval(3)]) == 2


def test_a_trial_within_its_budget_goes_on() -> None:
    assert _stops_at([interval(n, 2) for n in range(10)]) is None


def test_gaps_that_fill_up_again_stop_nothing() -> None:
    assert _stops_at([interval(n, 500 if n % 2 == 0 else -500) for n in range(10)]) is None


def test_losses_in_stalls_stop_nothing() -> None:
    assert _stops_at([interval(n, 100, stalls_ns=[2 * MS]) for n in range(10)]) is None


@pytest.mark.parametrize(("drained_by", "stops"), [("dut", True), ("wire", False)])
def test_frames_refused_count_where_the_dut_drains(drained_by: DrainedBy, stops: bool) -> None:
    quiet = interval(0)
    refusing = replace(quiet.streams[LOAD_OUT], refused=500)
    abort = EarlyAbort(PLAN, [LossRatio()], drained_by, QUEUE_FRAMES)
    abort(replace(quiet, streams=(refusing, *quiet.streams[1:])))
    assert abort(interval(1)) is stops


def test_frames_that_the_dut_left_no_room_for_are_excused_by_nothing() -> None:
    stalled = interval(0, stalls_ns=[20 * MS])
    refusing = replace(stalled.streams[LOAD_OUT], refused=500)
    excuses = StallExcuses(PLAN.streams, "dut", QUEUE_FRAMES)
    excuses.add(replace(stalled, streams=(refusing, *stalled.streams[1:])))
    assert excuses.unexcused(LOAD_OUT) == 500


def test_the_streams_of_a_port_share_its_queue() -> None:
    """20 ms at 4 x 25 kpps into one port: 2,000 frames came, of which the queue held 101."""
    streams = [StreamPlan(n, f"load{n}/0-1", "load", 0, 1, (bytes(60),), 25_000) for n in range(4)]
    excuses = StallExcuses(streams, "wire", QUEUE_FRAMES)
    away = interval(0, stalls_ns=[20 * MS])
    excuses.add(replace(away, streams=tuple(stream_counts(n, 25_000, 475) for n in range(4))))
    # 1,900 were lost, one more than the 1,899 that did not fit.
    assert [excuses.unexcused(n) for n in range(4)] == [0, 0, 0, 1]


@pytest.mark.parametrize(
    ("rate_pps", "pacing", "came"),
    [
        # In 20 ms of a second in which 30,000 were sent.
        (None, Pacing("back-to-back"), 600),
        (None, Pacing("one-in-flight"), 600),
        (30_000, Pacing("constant"), 600),
        # A burst more.
        (30_000, Pacing("burst", burst_frames=33), 632),
        # Five standard deviations of 400.
        (20_000, Pacing("poisson", seed=1), 500),
    ],
)
def test_what_can_have_come_in_a_stall_follows_from_the_pacing(
    rate_pps: float | None, pacing: Pacing, came: int
) -> None:
    stream = StreamPlan(0, "load/0-1", "load", 0, 1, (bytes(60),), rate_pps, pacing=pacing)
    excuses = StallExcuses([stream], "wire", QUEUE_FRAMES)
    away = interval(0, stalls_ns=[20 * MS])
    excuses.add(replace(away, streams=(stream_counts(0, 30_000, 5_000),)))
    assert excuses.unexcused(0) == 5_000 - (came - QUEUE_FRAMES)


def test_loops_that_are_away_together_excuse_once() -> None:
    both = interval(0, lost=150, stalls_ns=[2 * MS])
    assert _excuses([replace(both, workers=both.workers * 2)]).unexcused(LOAD_OUT) == 49


def _silent(index: int, *, stalls_ns: Sequence[int] = ()) -> Interval:
    """A second in which nothing comes back: no frame, so no gap either."""
    sending = interval(index, stalls_ns=stalls_ns)
    streams = tuple(replace(each, received=0, missing=0) for each in sending.streams)
    return replace(sending, streams=streams)


def test_a_dut_that_returns_nothing_is_noticed() -> None:
    """Frames of the first second are missed in the second, and still in the third."""
    assert _stops_at([_silent(n) for n in range(10)]) == 2
    assert _stops_at([interval(0), interval(1), *(_silent(n) for n in range(2, 10))]) == 4


def test_a_dut_that_pauses_is_given_time() -> None:
    pausing = [_silent(n) if n % 3 else interval(n) for n in range(10)]
    assert _stops_at(pausing) is None


def test_silence_while_the_tester_was_away_stops_nothing() -> None:
    """Of a second's 101,000 frames a stall of 2 s explains all, one of 0.5 s only half."""
    away, shortly = [2000 * MS], [500 * MS]
    assert (
        _stops_at([_silent(0, stalls_ns=away), *(_silent(n, stalls_ns=away) for n in (1, 2))])
        is None
    )
    assert _stops_at([_silent(n, stalls_ns=shortly) for n in range(3)]) == 2


def test_without_a_loss_criterion_nothing_is_stopped() -> None:
    abort = EarlyAbort(PLAN, [], "wire", QUEUE_FRAMES)
    assert not any(abort(interval(n, 10_000)) for n in range(5))
