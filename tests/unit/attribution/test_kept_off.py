"""Loops that were kept off their CPU, by events captured while that was done to a thread.

Linux 6.18, two vCPUs, trace clock x86-tsc, 2.596 GHz: `python` (27757) on CPU 0 stopped the thread
27767 on CPU 1, froze its cgroup (v1, v2), traced it and moved it, each for 30 or 60 ms.
"""

import json
from pathlib import Path

import pytest

from plimsoll.attribution.absences.absence import absences
from plimsoll.attribution.events.trace_reading import TraceCoverage, TraceReading
from plimsoll.attribution.explanation.explain import explain
from plimsoll.attribution.explanation.observations import Observations
from plimsoll.attribution.explanation.sentence import sentence
from plimsoll.attribution.incidents.incident import Incident
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.observe.kernel_trace.trace_program import KernelEvent
from plimsoll.record.causes.causes_record import Cause
from tests.unit.attribution.traces import (
    DUT,
    LOOPS,
    MS,
    TESTER,
    US,
    event,
    explained,
    latency,
    move,
    seen,
    switch,
)

CAPTURED = Path(__file__).parent / "captured" / "kept_off.jsonl"
HZ = 2.596e9
LOOP = PollingLoop("dut", "spin", 1, 27767)
BY_PYTHON = "python (27757)"


def captured(window: str) -> list[KernelEvent]:
    lines = [json.loads(line) for line in CAPTURED.read_text().splitlines()]
    return [
        KernelEvent(each["tsc"], each["cpu"], each["name"], each["fields"])
        for each in lines
        if each["window"] == window
    ]


def causes_of(window: str, begin: int, end: int) -> tuple[Cause, ...]:
    """Of a frame that was under way from begin to end, in ticks."""
    spike = Incident("latency", "probe/0-1", begin, end, 1, round((end - begin) / HZ * 1e9))
    seen = Observations(
        tsc_hz=HZ,
        incidents=[spike],
        loops=[LOOP],
        events=captured(window),
        coverage=TraceCoverage({1: (0, 2**62)}),
    )
    (found,) = explain(seen)
    return found.causes


@pytest.mark.parametrize(
    ("window", "left", "back", "name"),
    [
        ("SIGSTOP", 47_883_081_200_387, 47_883_174_023_537, "SIGSTOP"),
        ("freezer of cgroup v1", 47_883_545_668_537, 47_883_624_482_636,
         "the freezer of its cgroup"),
        ("freezer of cgroup v2", 47_885_428_086_935, 47_885_504_904_725,
         "the freezer of /blame-27757"),
        ("tracer", 47_884_513_506_982, 47_884_587_301_380, "a tracer"),
    ],
)  # fmt: skip
def test_a_stop_is_named_with_who_did_it(window: str, left: int, back: int, name: str) -> None:
    first = causes_of(window, left, back)[0]
    assert (first.kind, first.name, first.woken_by) == ("stopped", name, BY_PYTHON)
    assert first.confidence == "exact"
    assert first.length_ns == pytest.approx((back - left) / HZ * 1e9, rel=0.03)


def test_a_loop_that_was_moved_is_not_throttled() -> None:
    left, back = 47_883_996_574_279, 47_884_155_292_335
    reading = TraceReading(left - 1_000_000, back + 1_000_000, [LOOP])
    reading.read(captured("move"))
    parts = [
        part
        for each in absences(reading, LOOP, HZ)
        for part in each.parts
        if left < part.begin < back
    ]
    (name,) = {part.taker.name for part in parts if part.taker.kind == "moved"}
    assert name.startswith("moved from CPU 1 to CPU 0 for 57.5")
    assert "throttling" not in {part.taker.kind for part in parts}
    # CPU 0 was not traced: when it ran there is not known.
    assert {part.certain for part in parts if part.taker.kind == "moved"} == {False}


def test_what_a_moved_loop_ran_elsewhere_it_was_not_away() -> None:
    """The DUT's loop shares the tester's CPU for 40 ms, and has it for 10 of them."""
    events = [
        event(0, 1, "sched_migrate_task", pid=200, orig_cpu=1, dest_cpu=0, comm="rte-worker-1"),
        switch(1 * US, 1, 200, 0, "R"),
        switch(20 * MS, 0, 100, 200, "R"),
        switch(30 * MS, 0, 200, 100, "R"),
        event(40 * MS, 0, "sched_migrate_task", pid=200, orig_cpu=0, dest_cpu=1),
        switch(40 * MS, 1, 0, 200, "R"),
    ]
    (before, behind) = explain(seen([latency(1 * US, 20 * MS), latency(30 * MS, 40 * MS)], events))
    for found, length_ns in ((before, 20 * MS - 1 * US), (behind, 10 * MS)):
        (cause,) = found.causes
        assert (cause.kind, cause.name) == ("moved", "moved from CPU 1 to CPU 0 for 40 ms")
        assert (cause.length_ns, cause.confidence) == (length_ns, "exact")
    (between,) = explain(seen([latency(21 * MS, 29 * MS)], events))
    assert "exact" not in {cause.confidence for cause in between.causes}


def test_a_loop_moved_where_nothing_is_traced_is_partly_explained() -> None:
    events = [
        event(0, 1, "sched_migrate_task", pid=200, orig_cpu=1, dest_cpu=5, comm="rte-worker-1"),
        switch(0, 1, 200, 0, "R"),
        event(40 * MS, 5, "sched_migrate_task", pid=200, orig_cpu=5, dest_cpu=1),
        switch(40 * MS, 1, 0, 200, "R"),
    ]
    found = explained(latency(0, 40 * MS), events)
    (cause,) = found.causes
    assert (cause.kind, cause.name) == ("moved", "moved from CPU 1 to CPU 5 for 40 ms")
    assert cause.confidence == "partial"
    assert "was moved from CPU 1 to CPU 5 for 40 ms and did not run for 40 ms" in sentence(
        found, LOOPS
    )


def test_throttling_names_the_cgroup_of_its_counter() -> None:
    events = [switch(0, 1, 200, 0, "R"), switch(4 * MS, 1, 0, 200, "R")]
    counter = move("throttling", "/pods/dut", None, cgroup="/pods/dut", moved_ns=4 * MS)
    (cause,) = explained(latency(0, 4 * MS), events, (counter,)).causes
    assert (cause.kind, cause.cgroup, cause.confidence) == ("throttling", "/pods/dut", "exact")


def test_a_throttled_loop_whose_counter_says_nothing_is_named_by_its_own_cgroup() -> None:
    events = [switch(0, 1, 200, 0, "R"), switch(4 * MS, 1, 0, 200, "R")]
    (found,) = explain(seen([latency(0, 4 * MS)], events, cgroups={200: "/pods/dut"}))
    (cause,) = found.causes
    assert (cause.kind, cause.cgroup, cause.confidence) == ("throttling", "/pods/dut", "partial")


@pytest.mark.parametrize("state", ["R", "D"])
def test_a_lock_that_the_loop_waited_for_is_named(state: str) -> None:
    events = [event(0, 1, "contention_begin", flags=2, common_pid=200)]
    if state == "D":
        events += [switch(1, 1, 200, 812, "D", comm="java"), switch(4 * MS, 1, 812, 200, "R")]
    events.append(event(4 * MS + 1, 1, "contention_end", ret=0, common_pid=200))
    cause = explained(latency(0, 4 * MS), events).causes[0]
    assert (cause.kind, cause.confidence) == ("lock-contention", "exact")
    assert cause.length_ns == pytest.approx(4 * MS, rel=0.01)


def test_rcu_callbacks_are_no_mere_softirq() -> None:
    events = [
        event(0, 1, "softirq_entry", vec=9),
        event(1 * US, 1, "rcu_batch_start", rcuname="rcu_preempt", qlen=9000),
        event(3_999 * US, 1, "rcu_batch_end", rcuname="rcu_preempt"),
        event(4 * MS, 1, "softirq_exit", vec=9),
    ]
    (cause, *_) = explained(latency(0, 4 * MS), events).causes
    assert (cause.kind, cause.name, cause.length_ns) == ("rcu", "RCU callbacks", 3_998 * US)


def test_a_machine_check_is_named_where_nothing_else_is() -> None:
    events = [event(2 * MS, 0, "mce_record", cpu=1, bank=5)]
    (cause,) = explained(latency(0, 4 * MS), events, loops=(TESTER, DUT)).causes
    assert (cause.kind, cause.name, cause.cpu) == ("machine-check", "machine check, bank 5", 1)
    other = [event(2 * MS, 0, "mce_record", cpu=7, bank=5)]
    (cause,) = explained(latency(0, 4 * MS), other).causes
    assert cause.kind == "unexplained"


def test_a_frozen_loop_of_another_cgroup_is_not_this_one() -> None:
    """It slept, and some cgroup was frozen and is still."""
    events = [
        event(-1 * US, 0, "cgroup_freeze", path="/other"),
        switch(0, 1, 200, 0, "S"),
        switch(4 * MS, 1, 0, 200, "R"),
    ]
    (cause,) = explained(latency(0, 4 * MS), events).causes
    assert cause.kind == "slept"


def frozen_by_the_way(waker: int) -> list[KernelEvent]:
    """The loop's CPU is interrupted as another of its threads is woken there, and then leaves."""
    return [
        event(-90 * US, 0, "ipi_send_cpu", cpu=1, callsite="wakeup_preempt", common_pid=666,
              common_comm="bash"),
        event(-60 * US, 1, "reschedule_entry", common_pid=200),
        event(-59 * US, 1, "reschedule_exit", common_pid=200),
        switch(0, 1, 200, 812, "D", comm="java"),
        event(10 * MS, 0, "sched_waking", pid=200, common_pid=waker, common_comm="bash"),
        switch(10 * MS + 1, 1, 812, 200, "S", comm="java"),
    ]  # fmt: skip


def test_a_loop_that_left_as_its_cpu_was_interrupted_was_frozen_by_who_let_it_go() -> None:
    frozen = explained(latency(0, 10 * MS), frozen_by_the_way(666)).causes[0]
    assert (frozen.kind, frozen.name) == ("stopped", "the freezer of its cgroup")
    assert frozen.woken_by == "bash (666)"
    other = explained(latency(0, 10 * MS), frozen_by_the_way(667)).causes[0]
    assert other.kind == "slept"
    fault = event(-70 * US, 1, "page_fault_user", address=4096, common_pid=200)
    page = explained(latency(0, 10 * MS), [*frozen_by_the_way(666), fault]).causes[0]
    assert page.kind == "major-fault"
