"""What a trial shows next to its verdict, by hand."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.generator.histogram import Histogram
from plimsoll.generator.interface import Interval
from plimsoll.trial.judging.evidence import evidence_of
from plimsoll.trial.outcome.outcome import Outcome
from tests.unit.trial.seconds import ONE_STREAM, second, trial_of
from tests.unit.trial.trial_builder import (
    DURATION_S,
    LOAD_BACK,
    LOAD_OUT,
    PROBE,
    PROBE_PPS,
    RATE_PPS,
    interval,
    outcome,
    samples,
    stream_counts,
)

MS = 1_000_000


def _times(judged: Outcome) -> list[tuple[float, int]]:
    return [(loss.begin_s, loss.frames) for loss in evidence_of(judged).losses]


def _at(value_ns: int) -> Histogram:
    """Many samples of one value below 256 ns."""
    return samples(*[value_ns] * 10)


def test_a_clean_trial() -> None:
    found = evidence_of(outcome(intervals=[interval(n) for n in range(DURATION_S)]))
    assert (found.sending_s, found.intervals) == (10, 10)
    assert found.offered == 2 * RATE_PPS * DURATION_S + PROBE_PPS * DURATION_S
    assert (found.lost, found.loss_ratio, found.first_loss_s) == (0, 0, None)
    assert (found.lossy_intervals, found.losses) == (0, ())
    # The way back has no probe.
    assert found.forwarded_pps == RATE_PPS
    # The probe's latency is not that of the load.
    assert (found.min_ns, found.max_ns, found.latency_growth, found.peaks) == (None, None, None, ())


def test_loss_is_of_the_worst_direction_and_its_frames_of_all() -> None:
    streams = [
        stream_counts(LOAD_OUT, 1000, lost=10),
        stream_counts(LOAD_BACK, 1000, lost=50),
        stream_counts(PROBE, 1000),
    ]
    found = evidence_of(outcome(streams=streams))
    assert found.lost == 60
    assert found.loss_ratio == 50 / 1000
    assert found.forwarded_pps == 950 / DURATION_S


def test_losses_stand_where_they_were_seen() -> None:
    judged = trial_of([second(0), second(1, lost=7), second(2), second(3, lost=2)])
    assert _times(judged) == [(1, 7), (3, 2)]
    assert evidence_of(judged).first_loss_s == 1
    assert evidence_of(judged).lossy_intervals == 2


def test_what_stalls_explain_is_no_loss() -> None:
    """2 ms at 1 Mpps overflow a queue of 101 by 1,899."""
    stream = replace(ONE_STREAM.streams[0], rate_pps=1e6)
    plan = replace(ONE_STREAM, streams=(stream,))
    seconds = [
        second(0, sent=10**6, lost=5),
        second(1, sent=10**6, lost=1900, stall_ns=2 * MS),
        second(2, sent=10**6),
    ]
    judged = trial_of(seconds, plan=plan)
    assert _times(judged) == [(0, 5), (1, 1)]
    assert evidence_of(judged).lost == 6


def test_gaps_that_late_frames_filled_are_no_loss() -> None:
    late = trial_of([second(0, lost=3), second(1, lost=40), second(2, lost=-41), second(3)])
    assert _times(late) == [(0, 2)]


def test_what_the_drain_saw_was_sent_before_it() -> None:
    judged = trial_of([second(0), second(1), second(2, sent=0, lost=9, received=0, drain=True)])
    assert _times(judged) == [(1, 9)]
    assert evidence_of(judged).intervals == 2


def test_frames_lost_after_the_last_that_came_back_are_the_last_that_were_sent() -> None:
    """The DUT dies in the middle of second 1: nothing comes back, so there is no gap."""
    silent = [
        second(0),
        second(1, received=600),
        second(2, received=0),
        second(3, sent=0, received=0, drain=True),
    ]
    judged = trial_of(silent)
    assert _times(judged) == [(1, 400), (2, 1000)]
    assert evidence_of(judged).first_loss_s == 1


@given(st.lists(st.integers(0, 900) | st.just(0), min_size=1, max_size=8), st.integers(0, 1000))
def test_the_losses_by_time_add_up_to_all(gaps: list[int], unseen: int) -> None:
    """Gaps, and frames lost in the last second after the last that came back."""
    seconds = [second(n, lost=lost) for n, lost in enumerate(gaps)]
    last = second(len(gaps), received=1000 - unseen)
    found = evidence_of(trial_of([*seconds, last]))
    assert found.lost == sum(gaps) + unseen
    assert sum(loss.frames for loss in found.losses) == found.lost
    assert found.lossy_intervals == sum(1 for lost in (*gaps, unseen) if lost)


def test_of_many_losses_the_first_and_the_largest_are_kept() -> None:
    lossy = dict.fromkeys(range(0, 800, 2), 1) | {500: 90, 700: 80}
    found = evidence_of(trial_of([second(n, lost=lossy.get(n, 0)) for n in range(800)]))
    assert found.lossy_intervals == 400
    assert len(found.losses) == 256
    begins = [loss.begin_s for loss in found.losses]
    assert begins[:128] == list(range(0, 256, 2))
    assert begins == sorted(begins)
    assert {500, 700} <= set(begins)


def test_latency_is_that_of_the_load() -> None:
    """A queue whose median grows by 3 ns a second, and one peak."""
    seconds = [
        second(n, latency=samples(*[20 + 3 * n] * 9, 255 if n == 4 else 30 + 3 * n))
        for n in range(8)
    ]
    # What empties the queue is no part of its growth.
    drained = [second(8 + n, latency=_at(20 - n), drain=True) for n in range(9)]
    found = evidence_of(trial_of([*seconds, *drained], latency=samples(*range(1, 201))))
    assert (found.min_ns, found.p50_ns, found.p99_ns, found.max_ns) == (1, 100, 198, 200)
    assert found.latency_growth == pytest.approx(3)
    assert [(peak.at_s, peak.max_ns) for peak in found.peaks][3:6] == [(3, 39), (4, 255), (5, 45)]


def test_growth_is_of_the_steepest_stream() -> None:
    def growing(n: int) -> Interval:
        plain = interval(n)
        out, back, probe = plain.streams
        out, back = replace(out, latency=_at(100)), replace(back, latency=_at(100 + 5 * n))
        return replace(plain, streams=(out, back, probe))

    found = evidence_of(outcome(intervals=[growing(n) for n in range(6)]))
    assert found.latency_growth == 5
    assert found.peaks[-1].max_ns == 125


def test_the_largest_peaks_are_kept_by_time() -> None:
    found = evidence_of(trial_of([second(n, latency=_at(1 + n % 100)) for n in range(200)]))
    assert len(found.peaks) == 64
    assert {peak.max_ns for peak in found.peaks} == set(range(69, 101))
    assert [peak.at_s for peak in found.peaks] == sorted(peak.at_s for peak in found.peaks)


def test_a_trial_that_never_sent() -> None:
    streams = [stream_counts(each, 0) for each in (LOAD_OUT, LOAD_BACK, PROBE)]
    found = evidence_of(outcome(streams=streams, sending_s=0.0))
    assert (found.offered, found.loss_ratio, found.forwarded_pps) == (0, 0, 0)


def test_the_second_that_fell_shortest_of_the_plan_is_known() -> None:
    seconds = [interval(n) for n in range(DURATION_S)]
    # In second 3 the way back is offered 90,000 of 100,000 frames; in the last, a remainder of a
    # tenth of a second, hardly any, which says nothing.
    short = tuple(
        replace(each, sent=90_000, received=90_000) if each.stream == LOAD_BACK else each
        for each in seconds[3].streams
    )
    seconds[3] = replace(seconds[3], streams=short)
    stub = replace(seconds[-1], begin_s=10.0, end_s=10.1, index=10)
    few = tuple(replace(each, sent=1, received=1) for each in stub.streams)
    drain = interval(11, drain=True)
    trial = outcome(intervals=[*seconds, replace(stub, streams=few), drain])
    least = evidence_of(trial).least_offered
    assert least is not None
    assert (least.begin_s, least.end_s) == (3, 4)
    assert least.pps == pytest.approx(0.9 * RATE_PPS)
