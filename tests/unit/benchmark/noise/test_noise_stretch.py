"""One stretch: what is requested of the engine, and stalls explained by what was traced."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

import pytest

from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.benchmark.noise.stretch import NoiseCounters, StretchRun
from plimsoll.generator.engine.messages import trial_request
from plimsoll.generator.histogram import Histogram
from plimsoll.generator.interface import (
    ClockReading,
    CycleBudget,
    Cycles,
    Generator,
    Interval,
    Stall,
    TrialPlan,
    TrialReport,
    WorkerCounts,
)
from plimsoll.observe.kernel_trace.kernel_trace import KernelTrace, LostEvents
from plimsoll.observe.kernel_trace.trace_program import KernelEvent

MS = 1_000_000
CPU, LOOP_TID, JAVA_TID = 1, 100, 812
LOOP = PollingLoop("tester", "plimsoll-engine", CPU, LOOP_TID)
NOTHING = CycleBudget(*(Cycles(0, 0) for _ in range(4)))
# The raw clock begins 5 s after the time stamp counter, a tick of which is a nanosecond.
RAW_AHEAD = 5 * 10**9
CLOCK = tuple(
    ClockReading(at, at + RAW_AHEAD, at + 10**18, 10) for at in (10 * MS, 500 * MS, 1000 * MS)
)
TWO_MS = Stall(0.1, 102 * MS, 2 * MS)


@dataclass
class Meter:
    """A generator whose one loop had one stall of 2 ms, from 100 ms on."""

    plans: list[TrialPlan] = field(default_factory=list)

    def trial(self, plan: TrialPlan, watch: Callable[[Interval], bool]) -> TrialReport:
        self.plans.append(plan)
        worker = WorkerCounts(CPU, 9, 9, 1, 2 * MS, 2 * MS, Histogram(), NOTHING, (TWO_MS,))
        assert not watch(Interval(0, "send", 0.0, 1.0, 0, (), (), (worker,)))
        return TrialReport("duration", 1.0, 0, (), (), (worker,), clock=CLOCK)


def switch(tsc: int, prev: int, following: int, comm: str) -> KernelEvent:
    return KernelEvent(
        tsc,
        CPU,
        "sched_switch",
        {
            "prev_pid": prev,
            "prev_comm": "dpdk-worker1" if prev == LOOP_TID else comm,
            "prev_state": 0,
            "next_pid": following,
            "next_comm": "dpdk-worker1" if following == LOOP_TID else comm,
        },
    )


@dataclass
class Trace:
    """A trace in which java had the CPU while the loop was away."""

    clock: str = "x86-tsc"
    lost_events: tuple[LostEvents, ...] = ()
    done: list[object] = field(default_factory=list)
    readers: set[int] = field(default_factory=set)

    def start(self) -> None:
        self.done.append("start")

    def stop(self) -> None:
        self.done.append("stop")

    def read(self, windows: Sequence[tuple[int, int]]) -> list[KernelEvent]:
        self.done.append(list(windows))
        ahead = RAW_AHEAD if self.clock == "mono_raw" else 0
        return [
            switch(100 * MS + 1000 + ahead, LOOP_TID, JAVA_TID, "java"),
            switch(102 * MS - 1000 + ahead, JAVA_TID, LOOP_TID, "java"),
        ]


def stretch_run(meter: Meter, trace: Trace | None = None, *, crowded: bool = False) -> StretchRun:
    return StretchRun(
        generator=cast(Generator, meter),
        loops=(LOOP,),
        tsc_hz=1e9,
        threshold_ns=2500,
        crowded=crowded,
        trace=cast(KernelTrace | None, trace),
        counters=NoiseCounters((), None),
        own_pids=(7,),
    )


def test_the_engine_is_requested_to_look_at_the_clock_alone() -> None:
    meter = Meter()
    stretch_run(meter).run(mark=5, duration_s=2.0)
    (plan,) = meter.plans
    request = trial_request(plan)
    assert request["streams"] == []
    assert (request["mark"], request["duration_s"], request["stall_us"]) == (5, 2.0, 2.5)
    assert (request["gap_us"], request["longest"]) == (0, 64)
    assert plan.cpu_time_of == (7,)
    assert plan.hold_s == 1.0


def test_where_every_cpu_is_measured_no_process_wakes_before_the_end() -> None:
    meter = Meter()
    stretch_run(meter, crowded=True).run(mark=5, duration_s=2.0)
    (plan,) = meter.plans
    assert plan.hold_s > plan.duration_s
    assert plan.interval_s == 1.0


@pytest.mark.parametrize("clock", ["x86-tsc", "mono_raw"])
def test_a_stall_is_explained_by_what_the_kernel_saw(clock: str) -> None:
    trace = Trace(clock)
    stretch = stretch_run(Meter(), trace).run(1, 1.0)
    (explanation,) = stretch.explanations
    assert explanation.incident.subject == "CPU 1"
    assert (explanation.incident.begin_tsc, explanation.incident.end_tsc) == (100 * MS, 102 * MS)
    (cause,) = explanation.causes
    assert (cause.kind, cause.name, cause.pid, cause.confidence) == (
        "task",
        "java",
        JAVA_TID,
        "exact",
    )
    assert cause.length_ns == 2 * MS - 2000
    assert (stretch.events, stretch.lost_events, stretch.trace_complete) == (2, 0, True)
    ahead = RAW_AHEAD if clock == "mono_raw" else 0
    # From 20 ms before the trial's begin to 5 ms after its end, by the trace's clock.
    assert trace.done == ["start", "stop", [(ahead - 10 * MS, ahead + 1005 * MS)]]


def test_without_a_trace_no_one_is_named() -> None:
    stretch = stretch_run(Meter()).run(1, 1.0)
    (cause,) = stretch.explanations[0].causes
    assert (cause.kind, cause.confidence) == ("unexplained", "unexplained")
    assert (stretch.events, stretch.trace_complete) == (0, True)


@pytest.mark.parametrize(("complete_from", "named"), [(101 * MS, False), (99 * MS, True)])
def test_where_events_were_lost_no_one_is_named(complete_from: int, named: bool) -> None:
    trace = Trace(lost_events=(LostEvents(CPU, False, 40, complete_from),))
    stretch = stretch_run(Meter(), trace).run(1, 1.0)
    (cause,) = stretch.explanations[0].causes
    assert (cause.name == "java") is named
    assert (stretch.lost_events, stretch.trace_complete) == (40, False)


def test_events_lost_of_other_cpus_spoil_nothing() -> None:
    trace = Trace(lost_events=(LostEvents(CPU, True, 40, None),))
    stretch = stretch_run(Meter(), trace).run(1, 1.0)
    assert stretch.explanations[0].causes[0].name == "java"
    assert stretch.trace_complete
