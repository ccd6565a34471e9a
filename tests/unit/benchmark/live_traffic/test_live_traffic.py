"""When live traffic begins and ends trials, and what it makes of their intervals."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from plimsoll.benchmark.live_traffic.known_stream import KnownStream
from plimsoll.benchmark.live_traffic.live_book import LiveBook, no_counts
from plimsoll.errors import InputError
from plimsoll.generator.interface import (
    GeneratorRefused,
    Interval,
    StreamBegin,
    StreamCourse,
    TrialStage,
)
from plimsoll.traffic.plan import LONGEST_TRIAL_S, Pacing, StreamPlan
from tests.this_thread import in_this_thread
from tests.unit.benchmark.live_traffic.conftest import Live
from tests.unit.benchmark.live_traffic.stepped_generator import BEGIN_UNIX_NS, LATENCY_NS
from tests.worded.says import Says


def stream(number: int, rate_pps: float | None = 1000.0, **changes: Any) -> StreamPlan:
    defaults = {"tx_port": 0, "rx_port": 1, "frames": (bytes(60),)}
    return StreamPlan(
        stream=number, name=f"s{number}", role="load", rate_pps=rate_pps, **{**defaults, **changes}
    )


def planned_rates(live: Live) -> dict[int, float | None]:
    """Of the trial's streams: those which it begins with, and those which were begun at once."""
    begun = live.trial.begins[0] if live.trial.begins else {}
    return {
        each.stream: begun[each.stream].rate_pps if each.stream in begun else each.rate_pps
        for each in live.trial.plan.streams
    }


def test_streams_known_at_the_start_are_started_and_stopped_by_their_rates(live: Live) -> None:
    live.traffic.add([stream(1), stream(2, 50.0), stream(7, 5.0)])
    live.traffic.start([1])
    assert planned_rates(live) == {1: 1000.0, 2: 0.0, 7: 0.0}
    live.traffic.start([2])
    live.traffic.set_rates({1: 300.0, 7: 9.0})
    live.traffic.stop([1])
    assert live.trial.begins == [{1: StreamBegin(1000.0)}, {2: StreamBegin(50.0)}]
    assert live.trial.changes == [{1: 300.0}, {1: 0.0}]
    assert live.traffic.sending == {2}
    live.traffic.start()
    assert live.trial.begins[-1] == {1: StreamBegin(300.0), 7: StreamBegin(9.0)}
    assert len(live.generator.trials) == 1
    live.traffic.stop()
    assert live.trial.over.is_set()
    assert live.traffic.sending == frozenset()


def test_counters_go_on_from_trial_to_trial(live: Live) -> None:
    live.traffic.add([stream(1), stream(2, None, pacing=Pacing("back-to-back"))])
    live.traffic.start([1])
    assert planned_rates(live) == {1: 1000.0}
    live.step()
    live.trial.lost[1] = 4
    live.step()
    live.traffic.start([2])
    assert planned_rates(live) == {1: 1000.0, 2: None}
    live.step()
    counts = live.traffic.counts()
    (one, two) = counts.streams
    assert (one.counts.sent, one.counts.received, one.lost) == (3000, 2996, 4)
    assert one.counts.latency.count == 3000
    assert one.counts.latency.mean_ns == LATENCY_NS
    assert (one.sent_bytes, one.received_bytes) == (3000 * 64, 2996 * 64)
    assert (one.tx_pps, one.rx_pps, one.rx_bps) == (1000, 1000, 1000 * 64 * 8)
    assert one.first_sent_unix_ns == BEGIN_UNIX_NS
    assert two.rate_pps is None
    assert counts.elapsed_s == 3.0
    port = counts.port(0)
    assert (port.tx_frames, port.tx_bytes) == (3000, 3000 * 64)
    # Three intervals, each with three ARP frames and a stale one.
    assert port.rx_frames == 3 * 4
    assert port.counts is not None
    assert port.counts.foreign_kinds == {"arp": 9}
    assert counts.port(1).rx_frames == 2996
    assert len(live.traffic.gaps) == 1


def test_a_frame_count_ends_the_stream_and_the_trial_and_may_begin_anew(live: Live) -> None:
    live.traffic.add([stream(1, frame_count=2500)])
    live.traffic.start()
    for _ in range(2):
        live.step()
    assert live.traffic.counts().stream(1).state == "sending"
    live.step()
    assert live.traffic.wait(60)
    counts = live.traffic.counts()
    assert (counts.stream(1).state, counts.stream(1).counts.sent) == ("finished", 2500)
    assert not counts.sending
    live.traffic.start([1])
    assert live.trial.plan.streams[0].frame_count == 2500
    live.step()
    assert live.traffic.counts().stream(1).counts.sent == 3500


def test_the_rest_of_a_frame_count_is_sent_by_the_trial_that_follows(live: Live) -> None:
    live.traffic.add([stream(1, frame_count=2500)])
    live.traffic.start()
    live.step()
    live.traffic.add([stream(2)])
    live.traffic.start([2])
    assert {each.stream: each.frame_count for each in live.trial.plan.streams} == {1: 1500, 2: None}


def test_losses_at_the_end_are_known_once_all_is_stopped(live: Live) -> None:
    """What was on its way when the last interval ended, and did not come, left no gap."""
    live.traffic.add([stream(1)])
    live.traffic.start()
    live.step()
    live.trial.lost[1] = 0
    live.trial.rates[1] = 10.0
    live.step()
    live.traffic.stop()
    assert live.traffic.counts().stream(1).lost == 0


def test_rates_are_there_right_after_the_end_and_then_0() -> None:
    now = [100.0]
    book, known = LiveBook((), lambda: now[0]), KnownStream(stream(1))
    known.start(None)
    book.begin([1])

    def add(phase: TrialStage, length_s: float, sent: int) -> None:
        counts = replace(no_counts(1), sent=sent, received=sent)
        interval = Interval(0, phase, 0.0, length_s, 10**9, (counts,), (), ())
        with book.changed:
            book.add_interval(interval, {1: known})

    def rates() -> tuple[float, float]:
        read = book.read([known], sending=False).stream(1)
        return read.tx_pps, read.rx_pps

    add("send", 0.5, 500)
    assert rates() == (1000, 1000)
    # What is left of an interval at the stream's end is too short to be one of its own.
    known.ended = True
    add("send", 0.01, 10)
    assert rates() == (1000, 1000)
    # Others go on, and then the trial ends.
    add("send", 0.5, 0)
    add("drain", 0.1, 0)
    with book.changed:
        book.settle()
    now[0] += 9.9
    assert rates() == (1000, 1000)
    now[0] += 0.2
    assert rates() == (0, 0)
    # The next start has none yet, and none of the last one.
    known.start(None)
    book.begin([1])
    assert rates() == (0, 0)
    add("send", 0.5, 100)
    assert rates() == (200, 200)


def test_a_rate_is_none_of_the_time_between_an_end_and_its_notice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A starved machine reports an interval in which nothing was due before the end itself."""
    now_ns = [10**9]
    monkeypatch.setattr(time, "time_ns", in_this_thread(time.time_ns, lambda: now_ns[0]))
    monkeypatch.setattr(time, "monotonic_ns", in_this_thread(time.monotonic_ns, lambda: now_ns[0]))
    book, known = LiveBook(()), KnownStream(stream(1))
    known.start(1.0)
    known.note_begin(StreamCourse(1, now_ns[0], now_ns[0] + 10**9))

    def rate_after(sent: int) -> float:
        now_ns[0] += 5 * 10**8
        counts = replace(no_counts(1), sent=sent)
        interval = Interval(0, "send", 0.0, 0.5, now_ns[0], (counts,), (), ())
        with book.changed:
            book.add_interval(interval, {1: known})
        return book.read([known], sending=True).stream(1).tx_pps

    assert [rate_after(sent) for sent in (500, 400, 0, 0)] == [1000, 800, 800, 800]


def test_the_generator_ends_each_stream_after_its_own_duration(live: Live) -> None:
    live.traffic.add([stream(1), stream(2, 50.0)])
    ends = []
    live.traffic.notify_ends(lambda: ends.append(live.traffic.sending))
    (one,) = live.traffic.start([1], {1: 3.0})
    assert (one.begin_unix_ns, one.end_unix_ns) == (BEGIN_UNIX_NS, BEGIN_UNIX_NS + 3 * 10**9)
    live.step()
    (two,) = live.traffic.start([2], {2: 3.0})
    assert two.begin_unix_ns == BEGIN_UNIX_NS + 10**9
    assert live.trial.begins == [{1: StreamBegin(1000.0, 3.0)}, {2: StreamBegin(50.0, 3.0)}]
    for _ in range(2):
        live.step()
    assert ends == [{2}]
    assert live.traffic.counts().stream(1).state == "finished"
    assert live.traffic.courses[1].end_unix_ns == BEGIN_UNIX_NS + 3 * 10**9
    live.step()
    assert live.traffic.wait(20)
    counts = live.traffic.counts()
    assert [each.counts.sent for each in counts.streams] == [3000, 150]
    assert len(live.generator.trials) == 1


def test_a_duration_goes_on_where_another_trial_must_follow(live: Live) -> None:
    live.traffic.add([stream(1), stream(2, None, pacing=Pacing("back-to-back"))])
    live.traffic.start([1], {1: 3600.0})
    live.traffic.start([2], {2: 5.0})
    planned = {each.stream: each.duration_s for each in live.trial.plan.streams}
    assert planned[2] == 5.0
    # The end lies in the past: the mock's clock began in 1970.
    assert planned[1] is not None
    assert planned[1] < 3600


def test_what_is_held_keeps_what_is_left_of_its_duration(live: Live) -> None:
    live.traffic.add([stream(1), stream(2, 50.0)])
    live.traffic.start([1, 2], {1: 3600.0})
    live.traffic.hold([1, 2])
    assert live.trial.changes[-1] == {1: 0.0, 2: 0.0}
    assert live.trial.ends_s[-1] == {1: LONGEST_TRIAL_S}
    live.traffic.set_rates({1: 500.0})
    assert live.trial.rates == {1: 0.0, 2: 0.0}
    live.traffic.go_on([1, 2])
    assert live.trial.changes[-1] == {1: 500.0, 2: 50.0}
    assert set(live.trial.ends_s[-1]) == {1}
    live.traffic.hold([1])
    live.traffic.start([1, 2], {1: 7.0})
    assert live.trial.begins[-1] == {1: StreamBegin(500.0, 7.0)}


def test_a_trial_that_ends_with_its_streams_is_followed_where_others_are_to_go_on(
    live: Live,
) -> None:
    live.traffic.add([stream(1), stream(2, 50.0)])
    live.traffic.start([1, 2], {1: 1.0})
    live.traffic.set_rate(2, 0.0)
    live.step()
    while len(live.generator.trials) == 1:
        time.sleep(0.01)
    live.traffic.set_rate(2, 70.0)
    live.step()
    assert live.traffic.counts().stream(2).counts.sent == 70


def test_receiving_goes_on_without_streams_until_all_is_stopped(live: Live) -> None:
    live.traffic.start([])
    live.step()
    live.step()
    assert live.traffic.counts().port(0).rx_frames == 8
    live.traffic.stop()
    assert live.trial.over.is_set()


def test_counters_are_cleared_while_frames_are_sent(live: Live) -> None:
    live.traffic.add([stream(1), stream(2, 50.0)])
    live.traffic.start()
    live.step()
    live.traffic.clear([1])
    live.step()
    counts = live.traffic.counts()
    assert [each.counts.sent for each in counts.streams] == [1000, 100]
    assert counts.port(0).tx_frames == 2100
    assert counts.elapsed_s == 2
    live.traffic.clear()
    live.step()
    assert live.traffic.counts().port(0).tx_frames == 1050
    assert live.traffic.counts().elapsed_s == 1
    assert live.traffic.counts().port(0).rx_frames == 4


def test_a_removed_stream_is_gone_and_its_number_free(live: Live) -> None:
    live.traffic.add([stream(1), stream(2, 50.0)])
    live.traffic.start()
    live.step()
    live.traffic.remove([2])
    assert live.trial.changes[-1] == {2: 0.0}
    live.step()
    assert [each.stream for each in live.traffic.counts().streams] == [1]
    # What it sent stays in its ports' counters.
    port = live.traffic.counts().port(0)
    assert (port.tx_frames, port.tx_bytes) == (2050, 2050 * 64)
    live.traffic.add([stream(2, 70.0)])
    live.traffic.start([2])
    assert planned_rates(live) == {1: 1000.0, 2: 70.0}
    live.step()
    assert live.traffic.counts().stream(2).counts.sent == 70
    assert live.traffic.counts().port(0).tx_frames == 3120


def test_what_is_refused_leaves_the_others_sending(live: Live) -> None:
    live.traffic.add([stream(1)])
    live.traffic.start()
    live.traffic.add([stream(2)])
    live.generator.refusal = GeneratorRefused("no memory", where="generator: streams")
    with pytest.raises(GeneratorRefused, match="no memory"):
        live.traffic.start([2])
    assert live.traffic.sending == {1}
    assert not live.trial.over.is_set()
    assert planned_rates(live) == {1: 1000.0, 2: 0.0}


def test_the_next_trial_follows_when_one_has_lasted_as_long_as_it_may(live: Live) -> None:
    live.traffic.add([stream(1)])
    live.traffic.start()
    live.step()
    first = live.trial
    first.last()
    assert first.over.wait(60)
    while len(live.generator.trials) == 1:
        time.sleep(0.01)
    live.step()
    assert live.traffic.counts().stream(1).counts.sent == 2000


@pytest.mark.parametrize(
    ("added", "where"),
    [
        (stream(1), "streams[0].stream"),
        (stream(65536), "streams[0].stream"),
        (stream(3, tx_port=2), "streams[0].tx_port"),
        (stream(3, rx_port=-1), "streams[0].rx_port"),
        (stream(3, 0.001), "streams[0].rate_pps"),
        (stream(3, 2e9), "streams[0].rate_pps"),
        (stream(3, None), "streams[0].rate_pps"),
        (stream(3, 5.0, pacing=Pacing("back-to-back")), "streams[0].rate_pps"),
        (stream(3, frames=(bytes(60), bytes(59))), "streams[0].frames[1]"),
        (stream(3, frames=(bytes(1515),)), "streams[0].frames[0]"),
    ],
)
def test_what_cannot_be_sent_is_refused_with_its_place(
    live: Live, added: StreamPlan, where: str
) -> None:
    live.traffic.add([stream(1)])
    with pytest.raises(InputError) as caught:
        live.traffic.add([added])
    assert caught.value.where == where
    assert caught.value.remedy
    assert [each.stream for each in live.traffic.streams] == [1]


def test_rates_are_refused_where_there_are_none(live: Live, says: Says) -> None:
    live.traffic.add([stream(1), stream(2, None, pacing=Pacing("one-in-flight"))])
    with pytest.raises(InputError) as caught:
        live.traffic.set_rates({1: 5.0, 2: 5.0})
    assert caught.value == says()
    assert [each.rate_pps for each in live.traffic.streams] == [1000.0, None]
    with pytest.raises(InputError) as caught:
        live.traffic.set_rate(9, 1.0)
    assert caught.value == says("9")
    with pytest.raises(InputError) as caught:
        live.traffic.start([9])
    assert caught.value == says("9")


def test_more_streams_than_there_is_room_for_are_refused(live: Live, says: Says) -> None:
    live.traffic.add([stream(number) for number in range(70)])
    live.traffic.start(range(64))
    assert len(live.trial.plan.streams) == 64
    with pytest.raises(InputError) as caught:
        live.traffic.start([64])
    assert caught.value == says("64")
    live.traffic.stop([0])
    live.traffic.start([64])
    assert 64 in planned_rates(live)
    assert 0 not in planned_rates(live)
