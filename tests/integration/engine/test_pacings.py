"""Each pacing sends what it should; how evenly is measured by the benchmark, not here."""

from pathlib import Path
from typing import Any

import pytest

from tests.integration.engine.captures import read_signature, send
from tests.integration.engine.requests import Request, open_request, stream, trial_request
from tests.integration.engine.session import EngineSession


def unpaced(pacing: Request, **changes: Any) -> Request:
    """A stream without a rate."""
    request = stream(0, 0, pacing=pacing, **changes)
    del request["rate_pps"]
    return request


def test_a_burst_is_due_as_one(engine: EngineSession, tmp_path: Path) -> None:
    bursts = stream(0, 8000, pacing={"kind": "burst", "frames": 40})
    frames = send(engine, tmp_path, bursts)
    assert len(frames) == 800
    # What is sent at once, up to 64 frames, has one time. A late loop sends several bursts
    # at once, so there may be fewer times than bursts, but no burst needs two.
    assert len({read_signature(frame).time for frame in frames}) <= 20


def test_poisson_gaps_are_the_seed_s(loopback: EngineSession) -> None:
    def sent(seed: int) -> int:
        pacing = {"kind": "poisson", "seed": seed}
        reply = loopback.ask(trial_request(stream(0, 20_000, pacing=pacing), drain_s=0.05))
        (counts,) = reply["streams"]
        assert counts["received"] == counts["sent"]
        return int(counts["sent"])

    numbers = [sent(seed) for seed in (1, 2, 3, 1)]
    # 2000 frames in the mean, with a standard deviation of 45: six of them either way.
    assert all(1730 < number < 2270 for number in numbers)
    assert numbers[0] == numbers[3]
    assert len(set(numbers)) > 1


def test_back_to_back_ends_after_its_frames(loopback: EngineSession) -> None:
    request = unpaced({"kind": "back-to-back"}, frame_count=12_345)
    (counts,) = loopback.ask(trial_request(request, duration_s=0.3))["streams"]
    assert counts["sent"] == counts["received"] == 12_345
    assert counts["refused"] == counts["skipped"] == 0


def test_back_to_back_takes_the_room_there_is(loopback: EngineSession) -> None:
    """No frame is refused or skipped however long the trial; all come back."""
    (counts,) = loopback.ask(trial_request(unpaced({"kind": "back-to-back"})))["streams"]
    assert counts["sent"] == counts["received"] > 0
    assert counts["refused"] == counts["skipped"] == 0


def test_a_paced_stream_ends_after_its_frames(loopback: EngineSession) -> None:
    (counts,) = loopback.ask(trial_request(stream(0, 50_000, frame_count=77)))["streams"]
    assert counts["sent"] == counts["received"] == 77


@pytest.mark.parametrize("rate_pps", [None, 1000.0])
def test_one_in_flight_on_a_loopback(loopback: EngineSession, rate_pps: float | None) -> None:
    request = unpaced({"kind": "one-in-flight", "timeout_us": 50e3}, role="latency")
    if rate_pps is not None:
        request["rate_pps"] = rate_pps
    (counts,) = loopback.ask(trial_request(request, duration_s=0.2))["streams"]
    assert counts["sent"] == counts["received"] + counts["timed_out"]
    if rate_pps is not None:
        assert 0 < counts["sent"] <= 200
    assert sum(frames for _, frames in counts["latency_us"]) == counts["latency"]["count"]


def test_one_in_flight_into_nothing_times_out_each_time(engine: EngineSession) -> None:
    engine.ask(open_request("net_null0,no-rx=1"))
    request = unpaced({"kind": "one-in-flight", "timeout_us": 1000}, role="latency")
    (counts,) = engine.ask(trial_request(request))["streams"]
    assert 0 < counts["sent"] <= 101
    assert counts["timed_out"] == counts["sent"] == counts["missing"]
    assert counts["latency_us"] == []
    engine.finish()
