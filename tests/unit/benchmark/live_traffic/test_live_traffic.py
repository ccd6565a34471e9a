"""When live traffic begins and ends trials, and what it makes of their intervals."""

from __future__ import annotations

import time
from typing import Any

import pytest

from plimsoll.errors import InputError
from plimsoll.generator.interface import GeneratorRefused
from plimsoll.traffic.plan import Pacing, StreamPlan
from tests.unit.benchmark.live_traffic.conftest import Live
from tests.unit.benchmark.live_traffic.stepped_generator import BEGIN_UNIX_NS, LATENCY_NS


def stream(number: int, rate_pps: float | None = 1000.0, **changes: Any) -> StreamPlan:
    defaults = {"tx_port": 0, "rx_port": 1, "frames": (bytes(60),)}
    return StreamPlan(
        stream=number, name=f"s{number}", role="load", rate_pps=rate_pps, **{**defaults, **changes}
    )


def planned_rates(live: Live) -> dict[int, float | None]:
    return {each.stream: each.rate_pps for each in live.trial.plan.streams}


def test_streams_known_at_the_start_are_started_and_stopped_by_their_rates(live: Live) -> None:
    live.traffic.add([stream(1), stream(2, 50.0), stream(7, 5.0)])
    live.traffic.start([1])
    assert planned_rates(live) == {1: 1000.0, 2: 0.0, 7: 0.0}
    live.traffic.start([2])
    live.traffic.set_rates({1: 300.0, 7: 9.0})
    live.traffic.stop([1])
    assert live.trial.changes == [{}, {2: 50.0}, {1: 300.0}, {1: 0.0}]
    assert live.traffic.sending == {2}
    live.traffic.start()
    assert live.trial.changes[-1] == {1: 300.0, 7: 9.0}
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
    assert live.traffic.wait(20)
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
    assert live.traffic.counts().stream(1).tx_pps == 0


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
    assert first.over.wait(20)
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


def test_rates_are_refused_where_there_are_none(live: Live) -> None:
    live.traffic.add([stream(1), stream(2, None, pacing=Pacing("one-in-flight"))])
    with pytest.raises(InputError, match="has no rate"):
        live.traffic.set_rates({1: 5.0, 2: 5.0})
    assert [each.rate_pps for each in live.traffic.streams] == [1000.0, None]
    with pytest.raises(InputError, match="there is no stream 9"):
        live.traffic.set_rate(9, 1.0)
    with pytest.raises(InputError, match="there is no stream 9"):
        live.traffic.start([9])


def test_more_streams_than_there_is_room_for_are_refused(live: Live) -> None:
    live.traffic.add([stream(number) for number in range(70)])
    live.traffic.start(range(64))
    assert len(live.trial.plan.streams) == 64
    with pytest.raises(InputError, match="more than the 64"):
        live.traffic.start([64])
    live.traffic.stop([0])
    live.traffic.start([64])
    assert 64 in planned_rates(live)
    assert 0 not in planned_rates(live)
