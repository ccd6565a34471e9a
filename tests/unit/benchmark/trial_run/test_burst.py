from dataclasses import replace

import pytest

from plimsoll.benchmark.trial_run.search_trial import burst_streams
from plimsoll.traffic.plan import Pacing, Role, StreamPlan
from tests.worded.says import Says


def stream(number: int, tx_port: int, role: Role = "load") -> StreamPlan:
    return StreamPlan(
        stream=number,
        name=f"s{number}",
        role=role,
        tx_port=tx_port,
        rx_port=1 - tx_port,
        frames=(bytes(60),),
        rate_pps=5000.0,
    )


STREAMS = (stream(0, 0), stream(1, 0), stream(2, 1), stream(3, 0, "latency"))


def test_the_streams_of_a_direction_share_its_frames() -> None:
    bursts = burst_streams(STREAMS, 101)
    assert [(each.stream, each.frame_count) for each in bursts] == [(0, 51), (1, 50), (2, 101)]


def test_a_burst_goes_as_fast_as_the_port_takes_it() -> None:
    for burst in burst_streams(STREAMS, 10):
        assert (burst.rate_pps, burst.pacing) == (None, Pacing("back-to-back"))


def test_a_paced_burst_keeps_its_streams_rates() -> None:
    paced = burst_streams((replace(STREAMS[0], pacing=Pacing("poisson")),), 10, paced=True)
    assert [(each.rate_pps, each.pacing.kind) for each in paced] == [(5000.0, "poisson")]


def test_every_stream_sends_at_least_one() -> None:
    assert [each.frame_count for each in burst_streams(STREAMS, 1)] == [1, 1, 1]


def test_a_burst_of_nothing_is_refused(says: Says) -> None:
    with pytest.raises(ValueError) as caught:
        burst_streams(STREAMS, 0)
    assert caught.value == says()
