"""Intervals that are held back, and what hands them over before the trial ends."""

import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from plimsoll.dut.memif import memif_devargs
from tests.integration.engine.delay_dut import DelayDut, path
from tests.integration.engine.requests import open_request, stream, trial_request
from tests.integration.engine.session import EngineSession

STOP = {"id": 90, "request": "stop"}
HOURS: dict[str, Any] = {"duration_s": 7200, "interval_s": 0.02, "drain_s": 0.1}
LONG_ENOUGH_S = 0.3


def kinds(engine: EngineSession) -> list[str]:
    return [str(message.get("event", message.get("reply"))) for message in engine.messages]


def test_held_intervals_come_after_the_trial_all_and_in_order(loopback: EngineSession) -> None:
    loopback.send(trial_request(stream(0, 100_000), hold={"seconds": 3600}, **HOURS))
    time.sleep(LONG_ENOUGH_S)
    loopback.ask(STOP)
    # Whatever had not been held would have come before the answer to the stop.
    assert kinds(loopback) == ["stop"]
    reply = loopback.reply_to(2)
    intervals = loopback.intervals
    assert kinds(loopback) == ["stop", *["interval"] * len(intervals), "trial"]
    assert [each["index"] for each in intervals] == list(range(len(intervals)))
    assert len(intervals) > 2
    assert [each["phase"] for each in intervals[-2:]] == ["send", "drain"]
    for counter in ("sent", "received"):
        whole = sum(each["streams"][0][counter] for each in intervals)
        assert whole == reply["streams"][0][counter] > 0
    for before, after in pairwise(intervals):
        assert before["end_s"] == after["begin_s"]


def test_they_are_handed_over_when_their_time_is_up(loopback: EngineSession) -> None:
    loopback.send(trial_request(stream(0, 1000), hold={"seconds": 0.1}, **HOURS))
    # Would fail as a hang if they were held to the end.
    first = [loopback.next_interval() for _ in range(5)]
    assert [each["index"] for each in first] == [0, 1, 2, 3, 4]
    loopback.ask(STOP)
    loopback.reply_to(2)


def test_a_stream_of_which_nothing_comes_back_is_worth_waking_for(loopback: EngineSession) -> None:
    lost = stream(0, 1000, rx_port=1)
    loopback.send(trial_request(lost, hold={"seconds": 3600}, **HOURS))
    interval = loopback.next_interval()
    assert interval["streams"][0]["received"] == 0
    loopback.ask(STOP)
    loopback.reply_to(2)


@pytest.mark.parametrize(("allowed", "handed_over"), [(5, True), (1_000_000, False)])
def test_losses_beyond_the_limit_are_worth_waking_for(
    tmp_path: Path, allowed: int, handed_over: bool
) -> None:
    server, client = (
        [memif_devargs(role, port, tmp_path / "memif.sock", 4096) for port in (0, 1)]
        for role in ("server", "client")
    )
    with DelayDut(tmp_path, *server) as dut, EngineSession(tmp_path) as engine:
        engine.ask(open_request(*client))
        dut.behave(path(0, 1, wrongs=[{"do": "drop", "every": 50}]))
        there = stream(0, 20_000, rx_port=1)
        hold = {"seconds": 3600, "lost_frames": allowed}
        engine.send(trial_request(there, hold=hold, **HOURS))
        if handed_over:
            engine.next_interval()
        else:
            time.sleep(LONG_ENOUGH_S)
        engine.ask(STOP)
        before_the_end = kinds(engine)
        (counts,) = engine.reply_to(2)["streams"]
        dut.finish()
        engine.finish()
    assert ("interval" in before_the_end) == handed_over
    assert counts["missing"] > 5


def test_the_cpu_time_of_processes_is_reported(loopback: EngineSession) -> None:
    """Of one that sleeps, of one that is not there, and of the engine, whose loops use a CPU."""
    sleeping, engine, nobody = 1, loopback.hello["pid"], 2**22 + 1
    reply = loopback.ask(
        trial_request(stream(0, 1000), duration_s=0.5, cpu_time_of=[sleeping, engine, nobody])
    )
    times = reply["cpu_time"]
    by_pid = {each["pid"]: each["cpu_ns"] for each in times["processes"]}
    assert list(by_pid) == [sleeping, engine, nobody]
    assert by_pid[nobody] is None
    assert by_pid[sleeping] >= 0
    # The loops' time is the process's and not its main thread's.
    assert 0 < times["main_thread_ns"] < by_pid[engine]
