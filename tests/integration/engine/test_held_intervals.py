"""Intervals that are held back, and the losses that end a trial that no one watches."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from plimsoll.dut.ports.memif_port import memif_devargs
from plimsoll.host.processes.schedule_stats import polling_threads
from tests.integration.command import until
from tests.integration.engine.delay_dut import DelayDut, path
from tests.integration.engine.requests import open_request, stream, trial_request
from tests.integration.engine.session import EngineSession

STOP = {"id": 90, "request": "stop"}
HOURS: dict[str, Any] = {"duration_s": 7200, "interval_s": 0.02, "drain_s": 0.1}
# Of a loop's CPU time, in which fifteen intervals begin and end.
LONG_ENOUGH_NS = 300_000_000


def kinds(engine: EngineSession) -> list[str]:
    return [str(message.get("event", message.get("reply"))) for message in engine.messages]


def let_intervals_pass(engine: EngineSession) -> None:
    """Wait for intervals that are held, of which the engine says nothing."""
    pid = engine.process.pid
    until(lambda: bool(polling_threads(pid)), "the polling loop")
    (loop, *_) = polling_threads(pid)
    schedule = Path(f"/proc/{pid}/task/{loop}/schedstat")

    def polled_ns() -> int:
        return int(schedule.read_text().split()[0])

    enough_ns = polled_ns() + LONG_ENOUGH_NS
    until(lambda: polled_ns() >= enough_ns, "the loop to poll")


def test_held_intervals_come_after_the_trial_all_and_in_order(loopback: EngineSession) -> None:
    loopback.send(trial_request(stream(0, 100_000), hold_s=3600, **HOURS))
    let_intervals_pass(loopback)
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
    loopback.send(trial_request(stream(0, 1000), hold_s=0.1, **HOURS))
    # Would fail as a hang if they were held to the end.
    first = [loopback.next_interval() for _ in range(5)]
    assert [each["index"] for each in first] == [0, 1, 2, 3, 4]
    loopback.ask(STOP)
    loopback.reply_to(2)


@pytest.mark.parametrize(("limited", "ends"), [([0], "losses"), ([0, 7], "losses"), ([7], "stop")])
def test_a_stream_of_which_nothing_comes_back_ends_the_trial(
    loopback: EngineSession, limited: list[int], ends: str
) -> None:
    """Of streams 0, which is not received, and 7, that the limit is for."""
    streams = (stream(0, 1000, rx_port=1), stream(7, 1000))
    limits = [{"frames": 5, "streams": limited}]
    loopback.send(trial_request(*streams, hold_s=3600, loss_limits=limits, **HOURS))
    if ends == "stop":
        let_intervals_pass(loopback)
        loopback.ask(STOP)
    # Would fail as a hang if it went on for hours.
    reply = loopback.reply_to(2)
    assert reply["ended_by"] == ends
    assert reply["streams"][0]["received"] == 0
    assert reply["streams"][1]["received"] == reply["streams"][1]["sent"] > 0
    # Two intervals without a frame, and there was one before whose frames might have come.
    assert len(loopback.intervals) > 3


@pytest.mark.parametrize(
    ("allowed", "ends"), [(5, "losses"), pytest.param(1_000_000, "stop", marks=pytest.mark.slow)]
)
def test_losses_beyond_the_limit_end_the_trial_and_wake_no_process(
    tmp_path: Path, allowed: int, ends: str
) -> None:
    server, client = (
        [memif_devargs(role, port, tmp_path / "memif.sock", 4096) for port in (0, 1)]
        for role in ("server", "client")
    )
    with DelayDut(tmp_path, *server) as dut, EngineSession(tmp_path) as engine:
        engine.ask(open_request(*client))
        before = len(engine.messages)
        dut.behave(path(0, 1, wrongs=[{"do": "drop", "every": 50}]))
        there = stream(0, 20_000, rx_port=1)
        limits = [{"frames": allowed, "streams": [0]}]
        engine.send(trial_request(there, hold_s=3600, loss_limits=limits, **HOURS))
        if ends == "stop":
            let_intervals_pass(engine)
            engine.ask(STOP)
        reply = engine.reply_to(2)
        dut.finish()
        engine.finish()
    intervals = engine.intervals
    assert reply["ended_by"] == ends
    assert reply["streams"][0]["missing"] > 5
    assert reply["sending_s"] < HOURS["duration_s"]
    # None came before the drain was over.
    expected = [] if ends == "losses" else ["stop"]
    assert kinds(engine)[before:] == [*expected, *["interval"] * len(intervals), "trial"]
    assert intervals[-1]["phase"] == "drain"


def test_the_cpu_time_of_processes_is_reported(loopback: EngineSession) -> None:
    """Of one that sleeps, of one that is not there, and of the engine, whose loops use a CPU."""
    sleeping, engine, absent = 1, loopback.hello["pid"], 2**22 + 1
    reply = loopback.ask(
        trial_request(stream(0, 1000), duration_s=0.5, cpu_time_of=[sleeping, engine, absent])
    )
    times = reply["cpu_time"]
    by_pid = {each["pid"]: each["cpu_ns"] for each in times["processes"]}
    assert list(by_pid) == [sleeping, engine, absent]
    assert by_pid[absent] is None
    assert by_pid[sleeping] >= 0
    # The loops' time is the process's and not its main thread's.
    assert 0 < times["main_thread_ns"] < by_pid[engine]
