"""Streams that the engine ends by itself: after their duration, or with their last frame."""

import signal
import time

import pytest

from tests.integration.engine.requests import Request, open_request, stream, trial_request
from tests.integration.engine.session import EngineSession, Message

# Load frames that are due together go out together, at most so many.
BURST = 64
RATES = (20_000.0, 7_000.0)


def live_trial(*streams: Request, **changes: object) -> Request:
    """As live traffic has them: it ends with its streams, and frames that are late are skipped."""
    live = {"report_ends": True, "end_with_streams": True, "begin_delay_s": 0.01}
    return trial_request(*streams, **{"duration_s": 600, "catch_up_us": 1000, **live, **changes})


def begin(number: int, rate_pps: float, **changes: float) -> Request:
    return {"stream": number, "rate_pps": rate_pps, "begin": True, **changes}


def rates(*streams: Request, number: int = 5) -> Request:
    return {"id": number, "request": "rates", "streams": list(streams)}


def offered(counts: Message) -> int:
    """Frames whose time came: sent, skipped, or with no room in the port or the tester."""
    names = ("sent", "skipped", "refused", "no_buffer")
    return sum(int(counts[name]) for name in names)


def ends(engine: EngineSession) -> dict[int, Message]:
    told = [each for each in engine.messages if each.get("event") == "ended"]
    return {each["stream"]: each for message in told for each in message["streams"]}


def stall(engine: EngineSession, seconds: float) -> None:
    """Take all CPUs away from the engine, its polling loop and its main thread."""
    engine.process.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    engine.process.send_signal(signal.SIGCONT)


@pytest.mark.parametrize("duration_s", [0.5, 2.0, pytest.param(10.0, marks=pytest.mark.slow)])
def test_frames_are_the_rate_times_the_duration_whatever_stalls(
    loopback: EngineSession, duration_s: float
) -> None:
    """The loop is away as the streams begin, and again as they end."""
    requested = [stream(n, 0, tx_port=n, rx_port=n) for n in range(2)]
    loopback.send(live_trial(*requested))
    loopback.send(rates(*(begin(n, RATES[n], duration_s=duration_s) for n in range(2))))
    stall(loopback, 0.2)
    begun = loopback.reply_to(5)["begun"]
    assert [each["end_s"] - each["begin_s"] for each in begun] == [
        pytest.approx(duration_s, abs=1e-6)
    ] * 2
    time.sleep(max(0.0, duration_s - 0.3))
    stall(loopback, 0.2)
    report = loopback.reply_to(2)
    assert report["ended_by"] == "streams"
    for counts, rate_pps in zip(report["streams"], RATES, strict=True):
        assert abs(offered(counts) - rate_pps * duration_s) <= BURST
        assert counts["skipped"] > 0
        assert counts["received"] == counts["sent"] > 0
    for number, end in ends(loopback).items():
        assert end["begin_s"] == pytest.approx(begun[number]["begin_s"], abs=1e-6)
        assert end["end_s"] - end["begin_s"] == pytest.approx(duration_s, abs=1e-6)
    assert len(ends(loopback)) == 2


def test_each_stream_has_its_own_begin_and_end(loopback: EngineSession) -> None:
    loopback.send(live_trial(stream(0, 0), stream(1, 0, frame_count=100), stream(2, 0)))
    loopback.ask(rates(begin(0, 5000, duration_s=0.5)))
    while loopback.ask(rates(number=6))["at_s"] < 0.1:
        pass
    (late,) = loopback.ask(rates(begin(1, 1000), number=7))["begun"]
    assert late["begin_s"] >= 0.1
    assert late["end_s"] is None
    report = loopback.reply_to(2)
    assert report["ended_by"] == "streams"
    found = ends(loopback)
    assert found[0]["end_s"] - found[0]["begin_s"] == pytest.approx(0.5, abs=1e-6)
    # The last of 100 frames is due 99 ms after the first, and later where some were skipped.
    assert found[1]["end_s"] - found[1]["begin_s"] >= 0.099 - 1e-4
    assert set(found) == {0, 1}
    counts = [each["sent"] for each in report["streams"]]
    assert counts[1:] == [100, 0]


def test_a_stream_may_begin_again_with_all_of_its_frames(loopback: EngineSession) -> None:
    schedule = {"start_s": 0.02, "duration_s": 0.01, "pause_s": 0.01}
    requested = stream(0, 0, frame_count=50, schedule=schedule)
    loopback.send(live_trial(requested, stream(1, 0), end_with_streams=False))
    for number in (5, 6):
        loopback.ask(rates(begin(0, 5000), number=number))
        while loopback.next().get("event") != "ended":
            pass
    loopback.ask({"id": 9, "request": "stop"})
    report = loopback.reply_to(2)
    assert report["ended_by"] == "stop"
    assert report["streams"][0]["sent"] == 100


def test_another_end_takes_the_place_of_the_first(loopback: EngineSession) -> None:
    loopback.send(live_trial(stream(0, 0)))
    loopback.ask(rates(begin(0, 1000, duration_s=600)))
    while loopback.ask(rates(number=8))["at_s"] <= 0:
        pass
    # Paused, and to go on for a tenth of a second.
    loopback.ask(rates({"stream": 0, "rate_pps": 0, "duration_s": 600}, number=6))
    at_s = loopback.ask(rates({"stream": 0, "rate_pps": 1000, "duration_s": 0.1}, number=7))["at_s"]
    report = loopback.reply_to(2)
    assert report["ended_by"] == "streams"
    assert ends(loopback)[0]["end_s"] <= at_s + 0.1 + 1e-6
    assert report["sending_s"] < 600


def test_a_stop_that_comes_after_the_streams_ended_leaves_the_drain_alone(
    engine: EngineSession,
) -> None:
    """Of frames that never come back, the drain waits to its end."""
    engine.ask(open_request("net_null0,no-rx=1"))
    engine.send(live_trial(stream(0, 0), drain_s=0.3))
    engine.send(rates(begin(0, 1000, duration_s=0.05)))
    while engine.next().get("event") != "ended":
        pass
    engine.send({"id": 9, "request": "stop"})
    assert engine.reply_to(2)["ended_by"] == "streams"
    drained = [each for each in engine.intervals if each["phase"] == "drain"]
    assert drained[-1]["end_s"] - drained[0]["begin_s"] >= 0.29
