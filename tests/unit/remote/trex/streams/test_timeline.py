"""When bursts and chains of streams send, against the times of TRex's own simulator."""

from typing import Any

import pytest

from plimsoll.errors import InputError
from plimsoll.remote.trex.streams.stl_stream import StlStream
from plimsoll.remote.trex.streams.timeline import Timing, timings
from plimsoll.traffic.plan import Schedule
from tests.unit.remote.trex.stl_json import stream_json
from tests.worded.says import Says


def burst(frames: int, **more: Any) -> dict[str, Any]:
    mode = {
        "type": "single_burst",
        "total_pkts": frames,
        "rate": {"type": "pps", "value": more.pop("pps", 10.0)},
    }
    return stream_json(mode=mode, **more)


def multi_burst(frames: int, count: int, ibg: float, pps: float, **more: Any) -> dict[str, Any]:
    mode = {
        "type": "multi_burst",
        "pkts_per_burst": frames,
        "count": count,
        "ibg": ibg,
        "rate": {"type": "pps", "value": pps},
    }
    return stream_json(mode=mode, **more)


def timed(*given: dict[str, Any]) -> dict[int, Timing]:
    streams = {number: StlStream.model_validate(each) for number, each in enumerate(given, 1)}
    rates = {number: each.mode.rate.value for number, each in streams.items()}
    return timings(streams, rates)


def test_streams_that_start_each_other() -> None:
    # exp/burst_3st_600pkt.pcap: the second begins with the first's last frame, 0.9 s on.
    found = timed(
        burst(10, isg=10.0, next_stream_id=2),
        burst(20, self_start=False, next_stream_id=3),
        burst(30, self_start=False),
    )
    assert [found[n].frame_count for n in (1, 2, 3)] == [10, 20, 30]
    assert [found[n].schedule.start_s for n in (1, 2, 3)] == pytest.approx([0, 0.9, 2.8], abs=2e-5)


def test_a_circle_of_streams_ends_with_its_action_count() -> None:
    # exp/burst_3st_loop_x_times.pcap: two rounds of 1, 2 and 3 frames, 0.30001 s apart.
    found = timed(
        burst(1, isg=10.0, next_stream_id=2),
        burst(2, self_start=False, next_stream_id=3),
        burst(3, self_start=False, next_stream_id=1, action_count=2),
    )
    assert [found[n].frame_count for n in (1, 2, 3)] == [2, 4, 6]
    assert found[1].rate_pps == pytest.approx(1 / 0.30001)
    second, third = found[2].schedule, found[3].schedule
    assert (second.start_s, second.duration_s) == pytest.approx((1e-5, 0.15))
    assert (third.start_s, third.duration_s) == pytest.approx((0.10001, 0.25))
    assert second.duration_s is not None
    assert second.pause_s is not None
    assert second.duration_s + second.pause_s == pytest.approx(0.30001)


def test_a_circle_without_a_count_has_no_end() -> None:
    found = timed(burst(2, next_stream_id=2), burst(2, self_start=False, next_stream_id=1, isg=5e5))
    assert [found[n].frame_count for n in (1, 2)] == [None, None]
    assert found[2].schedule.start_s == pytest.approx(0.6)


def test_bursts_with_gaps() -> None:
    # exp/multi_burst_2st_1000pkt.pcap: 4 frames 1 ms apart, 1 s from the last to the next first.
    (found,) = timed(multi_burst(4, 5, 1e6, 1000.0)).values()
    assert (found.rate_pps, found.frame_count) == (1000.0, 20)
    assert found.schedule == Schedule(0.0, 0.0035, pytest.approx(0.9995))


def test_bursts_of_less_than_a_millisecond_leave_at_once() -> None:
    (found,) = timed(multi_burst(4, 0, 9970.0, 100_000.0)).values()
    assert found.pacing.burst_frames == 4
    assert found.rate_pps == pytest.approx(400)
    assert found.frame_count is None


def test_bursts_without_a_gap_are_one() -> None:
    (found,) = timed(multi_burst(5, 2, 0.0, 10.0)).values()
    assert (found.rate_pps, found.frame_count) == (pytest.approx(12.5), 10)


def test_what_nobody_starts_never_sends() -> None:
    found = timed(stream_json(self_start=False), stream_json(enabled=False), stream_json())
    assert list(found) == [3]


def test_a_delay_sends_nothing() -> None:
    found = timed(burst(1, isg=2e6, flags=0x8, next_stream_id=2), burst(5, self_start=False))
    assert list(found) == [2]
    assert found[2].schedule.start_s == pytest.approx(2)


@pytest.mark.parametrize(
    ("streams", "facts"),
    [
        ((burst(1, next_stream_id=7),), ("7",)),
        ((burst(1, next_stream_id=2), burst(1)), ("2",)),
        (
            (
                burst(2, next_stream_id=2),
                multi_burst(2, 2, 1e6, 10.0, self_start=False, next_stream_id=1),
            ),
            ("multi_burst",),
        ),
    ],
)
def test_what_cannot_be_timed_is_refused(streams: Any, facts: tuple[str, ...], says: Says) -> None:
    with pytest.raises(InputError) as caught:
        timed(*streams)
    assert caught.value == says(*facts)
