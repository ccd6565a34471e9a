"""Kernel events written by hand. One tick is one nanosecond throughout."""

from collections.abc import Sequence
from typing import Any

from plimsoll.attribution.events.trace_reading import TraceCoverage
from plimsoll.attribution.explanation.counters import CounterMove
from plimsoll.attribution.explanation.explain import explain
from plimsoll.attribution.explanation.observations import UNKNOWN_LOAD, Observations, PathLoad
from plimsoll.attribution.incidents.incident import Explanation, Incident
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.observe.kernel_trace.trace_program import KernelEvent

HZ = 1e9
MS = 1_000_000
US = 1_000
AT = 1_000 * MS
TESTER = PollingLoop("tester", "plimsoll-engine", 0, 100)
DUT = PollingLoop("dut", "dpdk-testpmd", 1, 200)
LOOPS = (TESTER, DUT)
WHOLE = TraceCoverage({0: (0, 2**62), 1: (0, 2**62)})
NAMES = {100: "rte-worker-1", 200: "rte-worker-1", 0: "swapper/1"}


def event(at: int, cpu: int, name: str, /, **fields: int | str) -> KernelEvent:
    """`at` is in ns after AT."""
    return KernelEvent(AT + at, cpu, name, fields)


def switch(
    at: int, cpu: int, prev: int, following: int, state: int | str = "R", *, comm: str = ""
) -> KernelEvent:
    """From one task to another; `comm` is the name of whichever is no polling loop."""
    return event(
        at,
        cpu,
        "sched_switch",
        prev_pid=prev,
        prev_comm=NAMES.get(prev, comm),
        prev_state=state,
        next_pid=following,
        next_comm=NAMES.get(following, comm),
    )


def visit(begin: int, end: int, loop: PollingLoop, pid: int, comm: str) -> list[KernelEvent]:
    """Another task has the loop's CPU from `begin` to `end`."""
    return [
        switch(begin, loop.cpu, loop.thread_id, pid, comm=comm),
        switch(end, loop.cpu, pid, loop.thread_id, "S", comm=comm),
    ]


def latency(begin: int, end: int, stream: str = "probe/0-1") -> Incident:
    return Incident("latency", stream, AT + begin, AT + end, 1, end - begin)


def loss(begin: int, end: int, frames: int = 512) -> Incident:
    return Incident("loss", "load/0-1", AT + begin, AT + end, frames, end - begin)


def stall(begin: int, end: int, cpu: int = 0) -> Incident:
    return Incident("stall", f"CPU {cpu}", AT + begin, AT + end, 0, end - begin)


def move(kind: str, name: str, cpu: int | None, **more: object) -> CounterMove:
    """A counter that moved in the second around AT; steal by 1 s, in the steps of /proc/stat."""
    steal = {"moved_ns": 1_000 * MS, "unit_ns": 10 * MS} if kind == "hypervisor-steal" else {}
    given = {**steal, **more}
    return CounterMove(kind, name, cpu, AT - 500 * MS, AT + 500 * MS, **given)  # type: ignore[arg-type]


def seen(incidents: Sequence[Incident], events: list[KernelEvent], **more: Any) -> Observations:
    """Of the two loops, with a whole trace and no counters unless told otherwise."""
    given = {"loops": LOOPS, "coverage": WHOLE, "tsc_hz": HZ, **more}
    return Observations(
        incidents=incidents, events=sorted(events, key=lambda each: each.tsc), **given
    )


def explained(
    incident: Incident,
    events: list[KernelEvent],
    counters: tuple[CounterMove, ...] = (),
    coverage: TraceCoverage = WHOLE,
    *,
    load: PathLoad = UNKNOWN_LOAD,
    loops: tuple[PollingLoop, ...] = LOOPS,
) -> Explanation:
    """The explanation of the one incident."""
    more = {"counters": counters, "coverage": coverage, "load": load, "loops": loops}
    (found,) = explain(seen([incident], events, **more))
    return found
