"""Workers without queues: loops that look at the clock and do nothing else."""

import subprocess
import sys
from itertools import pairwise

import pytest

from tests.integration.engine.requests import CPUS, stream, trial_request
from tests.integration.engine.session import EngineSession, Message

OPEN = {
    "id": 1,
    "request": "open",
    "memory": {"huge": False, "megabytes": 64},
    "main_cpus": CPUS,
    "workers": [{"cpu": CPUS[-1], "tx": [], "rx": []}],
    "ports": [],
}
STOP = {"id": 90, "request": "stop"}
# In a process of its own: a thread of ours would have to share the interpreter.
TAKE_THE_CPU = """
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
begin = time.monotonic()
while time.monotonic() - begin < 0.03:
    pass
"""


@pytest.fixture
def clock(engine: EngineSession) -> EngineSession:
    reply = engine.ask(OPEN)
    assert reply["ok"]
    assert reply["ports"] == []
    return engine


def measured(engine: EngineSession, **changes: object) -> Message:
    reply = engine.ask(trial_request(drain_s=0, **changes))  # type: ignore[arg-type]
    assert reply["ok"], reply
    assert reply["streams"] == reply["ports"] == []
    (worker,) = reply["workers"]
    return {**worker, "sending_s": reply["sending_s"]}


def test_every_turn_is_counted_and_the_gaps_add_up_to_the_time(clock: EngineSession) -> None:
    worker = measured(clock, duration_s=0.5, gap_us=0)
    gaps = worker["gaps"]
    # One look a turn, none of which has a frame to handle.
    assert gaps["count"] == worker["polls"] == worker["idle_polls"]
    # The loops run a little longer than the trial sends: until they are stopped.
    # Each gap is rounded down to whole ns.
    assert gaps["sum_ns"] + gaps["count"] >= 0.5e9
    assert gaps["max_ns"] >= worker["worst_stall_ns"]


def test_short_gaps_are_left_out_where_they_are_not_requested(clock: EngineSession) -> None:
    gaps = measured(clock, duration_s=0.2, gap_us=2, stall_us=20)["gaps"]
    assert gaps["min_ns"] is None or gaps["min_ns"] >= 1999
    below = measured(clock, duration_s=0.2, gap_us=20, stall_us=1)["gaps"]
    # A stall is a gap, whatever gaps are requested.
    assert below["count"] > 0


def test_an_absence_is_a_stall_of_its_length(clock: EngineSession) -> None:
    """A process of higher priority takes the CPU for 30 ms by its own clock."""
    clock.send(trial_request(duration_s=7200, interval_s=0.05, drain_s=0))
    # While the loop looks at the clock, however late it began to.
    clock.next_interval()
    taken = subprocess.run(
        [sys.executable, "-c", TAKE_THE_CPU, str(CPUS[-1])],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    clock.ask(STOP)
    (worker,) = clock.reply_to(2)["workers"]
    if "PermissionError" in taken.stderr:
        pytest.skip("real-time scheduling is not permitted here")
    assert taken.returncode == 0, taken.stderr
    assert worker["worst_stall_ns"] >= 0.03e9
    assert worker["longest"][0]["length_ns"] == worker["worst_stall_ns"]


@pytest.mark.parametrize("most", [0, 3])
def test_as_many_stalls_are_listed_as_are_requested(clock: EngineSession, most: int) -> None:
    measured(clock, duration_s=0.5, interval_s=0.1, stall_us=1, longest=most)
    lists = [each["workers"][0] for each in clock.intervals]
    assert len(lists) > 1
    for worker in lists:
        assert len(worker["longest"]) == min(most, worker["stalls"])
        assert all(a["length_ns"] >= b["length_ns"] for a, b in pairwise(worker["longest"]))


def test_streams_need_a_port(clock: EngineSession) -> None:
    assert clock.ask_in_vain(trial_request(stream(0, 1000))) == {
        "where": "streams",
        "message": "there is no port to send on",
        "fatal": False,
    }
