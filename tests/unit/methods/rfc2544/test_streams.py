"""What latency, recovery and burst trials send, and what they read from what came back."""

from dataclasses import replace

import pytest

from plimsoll.methods.rfc2544.latency import tagged_latencies, with_tags
from plimsoll.methods.rfc2544.recovery import falling_streams, outage_of, recovery_of
from plimsoll.methods.rfc2544.throughput import percents
from plimsoll.traffic.plan import StreamPlan
from tests.unit.trial.trial_builder import (
    LOAD_BACK,
    LOAD_OUT,
    PLAN,
    RATE_PPS,
    interval,
    outcome,
    series,
)

LOAD = PLAN.streams[:2]


def test_a_tagged_frame_goes_out_in_each_direction_and_the_rate_is_kept() -> None:
    streams = with_tags(LOAD, 60.0)
    tags = [stream for stream in streams if stream.role == "latency"]
    assert [(tag.name, tag.tx_port, tag.rx_port) for tag in tags] == [
        ("tag/0-1", 0, 1),
        ("tag/1-0", 1, 0),
    ]
    # The second frame, 60 s after the first, is the last.
    assert all(tag.frame_count == 2 and tag.rate_pps == pytest.approx(1 / 60) for tag in tags)
    assert len({stream.stream for stream in streams}) == len(streams)
    for path in ((0, 1), (1, 0)):
        rates = [s.rate_pps or 0 for s in streams if (s.tx_port, s.rx_port) == path]
        assert sum(rates) == pytest.approx(RATE_PPS)


def test_only_the_direction_s_first_stream_gives_way_to_the_tag() -> None:
    second = replace(LOAD[0], stream=7, name="second/0-1", rate_pps=5.0)
    by_name = {stream.name: stream.rate_pps for stream in with_tags((LOAD[0], second), 1.0)}
    assert by_name == {"load/0-1": RATE_PPS - 1.0, "second/0-1": 5.0, "tag/0-1": 1.0}


def test_the_tagged_frame_is_the_one_that_came_after_its_time() -> None:
    tag = PLAN.streams[2]
    kept = series([interval(index) for index in range(4)])
    found = tagged_latencies(outcome_of(kept), 2.5)
    # Each second of the builder's probe has samples of 100, 110 and 120 ns.
    assert found == {"tagged_ns/0-1": 120}
    assert tagged_latencies(outcome_of(kept), 4.0) == {"tagged_ns/0-1": None}
    assert tag.name == "probe/0-1"


def test_half_of_the_load_ends_after_the_overload() -> None:
    streams, change_s = falling_streams(LOAD, 60.0)
    assert change_s == 60.0
    for path in ((0, 1), (1, 0)):
        rates = [s.rate_pps or 0.0 for s in streams if (s.tx_port, s.rx_port) == path]
        assert rates == [RATE_PPS / 2, RATE_PPS / 2]
    counts = {stream.name: stream.frame_count for stream in streams}
    assert counts == {
        "load/0-1": None,
        "load/1-0": None,
        "load/0-1 overload": 3_000_000,
        "load/1-0 overload": 3_000_000,
    }


def test_recovery_is_timed_to_the_end_of_the_last_lossy_second() -> None:
    losses = [50, 50, 50, 20, 1, 0, 0]
    kept = series([interval(index, lost) for index, lost in enumerate(losses)])
    # The rate falls at 3 s; the last frame is lost between 4 and 5 s.
    assert recovery_of(outcome_of(kept, lost=171), 3.0) == {
        "recovery_s": 2.0,
        "resolution_s": 1.0,
        "lost_overloaded": 150.0,
        "lost_afterwards": 21.0,
    }


def test_without_a_loss_after_the_change_recovery_takes_no_time() -> None:
    kept = series([interval(index, lost) for index, lost in enumerate([9, 9, 9, 0, 0])])
    assert recovery_of(outcome_of(kept, lost=27), 3.0)["recovery_s"] == 0.0


@pytest.mark.parametrize(
    ("losses", "lost"), [([9, 9, 9, 9], 36), ([9, 9, 0, 0], 40)], ids=["gaps", "the very last"]
)
def test_a_dut_that_still_loses_at_the_end_has_not_recovered(losses: list[int], lost: int) -> None:
    kept = series([interval(index, each) for index, each in enumerate(losses)])
    assert recovery_of(outcome_of(kept, lost=lost), 2.0)["recovery_s"] is None


def test_an_outage_is_the_frames_lost_over_the_rate_of_the_worse_direction() -> None:
    kept = series([interval(0, RATE_PPS // 2), interval(1)])
    found = outage_of(outcome_of(kept, lost=50_000))
    # 100,000 load frames and 1,000 probes go that way each second.
    assert found == {"outage_s": pytest.approx(50 / 101), "lost": 50_000.0}


def test_a_direction_that_stays_silent_has_no_outage_to_tell() -> None:
    silent = [interval(0), interval(1)]
    silent[1] = replace(
        silent[1],
        streams=tuple(
            replace(counts, received=0) if counts.stream == LOAD_BACK else counts
            for counts in silent[1].streams
        ),
    )
    assert outage_of(outcome_of(series(silent)))["outage_s"] is None


def test_rates_fall_by_the_step_and_then_by_a_tenth_of_it() -> None:
    falling = percents(0.1)
    assert falling[:10] == [100, 90, 80, 70, 60, 50, 40, 30, 20, 10]
    assert falling[10:19] == [9, 8, 7, 6, 5, 4, 3, 2, 1]
    assert falling[-1] == pytest.approx(0.1)
    assert percents(0.05)[:3] == [100, 95, 90]


def outcome_of(kept: object, lost: int = 0) -> object:
    return replace(outcome(lost=lost), series=kept)  # type: ignore[arg-type]


def test_the_builder_s_streams_are_those_that_the_tests_name() -> None:
    assert [plan.stream for plan in LOAD] == [LOAD_OUT, LOAD_BACK]
    assert all(isinstance(plan, StreamPlan) for plan in LOAD)
