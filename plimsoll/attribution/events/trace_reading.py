"""Kernel events of one window turned into what each CPU did, and who set it off."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from plimsoll.attribution.events.cpu_timeline import CpuTimeline, Slice, closed_by, opened_by
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.attribution.incidents.spans import Spans, union
from plimsoll.errors import InputError
from plimsoll.host.cpus import parse_cpu_list
from plimsoll.observe.kernel_trace.trace_program import KernelEvent
from plimsoll.record.trials.clock_fit import ClockFit

_STOP_SIGNALS = {19: "SIGSTOP", 20: "SIGTSTP", 21: "SIGTTIN", 22: "SIGTTOU"}
# A task that last ran on another CPU is seen when its waker migrates it here.
_WAKINGS = ("sched_waking", "sched_wakeup_new", "sched_migrate_task")
# What runs in the context of the task it interrupts, or of the task that works it off.
_FUNCTIONS = ("hrtimer_expire_entry", "timer_expire_entry")
# By which the kernel hands a cgroup its quota again: kernel/sched/fair.c.
_REFILLS = ("sched_cfs_period_timer", "sched_cfs_slack_timer")
# enum tlb_flush_reason: TLB_REMOTE_SHOOTDOWN, TLB_REMOTE_WRONG_CPU.
_REMOTE_FLUSHES = (1, 5)
_COMM_LENGTH = 15


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal that stops a process: when, to whom, and what it was and who sent it."""

    tsc: int
    pid: int
    comm: str
    text: str
    sender: str | None

    def is_to(self, loop: PollingLoop) -> bool:
        """Whether it is to the loop's thread, or to its process by name."""
        return self.pid == loop.thread_id or self.comm == loop.process[:_COMM_LENGTH]


@dataclass(frozen=True, slots=True)
class CpuFact:
    """Something that happened at one moment on a CPU: a page fault, a change of frequency."""

    tsc: int
    cpu: int
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Move:
    """A task was moved from one CPU to another."""

    tsc: int
    thread: int
    origin: int
    target: int


@dataclass(frozen=True, slots=True)
class Kick:
    """A CPU was interrupted by another one, from which function of the kernel and by whom."""

    tsc: int
    cpu: int
    function: str
    sender: str | None


@dataclass(frozen=True, slots=True)
class Wake:
    """A polling loop may run again, by whom."""

    tsc: int
    thread: int
    waker: str | None


@dataclass(frozen=True, slots=True)
class Freeze:
    """A cgroup was frozen (or let go) by whom, where that is known."""

    tsc: int
    cgroup: str
    frozen: bool
    sender: str | None


class TraceReading:
    """Reads the events of one window, in order of time."""

    def __init__(self, begin: int, end: int, loops: Sequence[PollingLoop]) -> None:
        """`begin` and `end` are those of the window; `loops` are on CPUs of their own."""
        self.begin, self.end = begin, end
        self.signals: list[Signal] = []
        self.facts: list[CpuFact] = []
        # When a cgroup, whichever it was, was handed its CPU quota again.
        self.refills: list[int] = []
        # Of polling loops, and of any cgroup.
        self.moves: list[Move] = []
        self.freezes: list[Freeze] = []
        # Who interrupted a loop's CPU so that the loop looks at what it is to do.
        self.kicks: list[Kick] = []
        # Who woke a loop, and when.
        self.wakes: list[Wake] = []
        self._loops = {loop.cpu: loop.thread_id for loop in loops}
        self._loop_cpus = {loop.thread_id: loop.cpu for loop in loops}
        self._cpus = {cpu: CpuTimeline(begin, tid) for cpu, tid in self._loops.items()}
        self._wakers: dict[int, str | None] = {}
        self._ipis: dict[int, str | None] = {}

    def read(self, events: Iterable[KernelEvent]) -> None:
        """Take them all; no more may come."""
        for event in events:
            timeline = self._cpus.get(event.cpu)
            if timeline is None:
                timeline = self._cpus[event.cpu] = CpuTimeline(self.begin, None)
            timeline.learn(event)
            self._take(event, timeline)
        for timeline in self._cpus.values():
            timeline.finish(self.end)

    def ran_elsewhere(self, loop: PollingLoop) -> Spans:
        """When the loop had a CPU other than its own, of those on which all events are recorded."""
        if not any(move.thread == loop.thread_id for move in self.moves):
            return ()
        return union(
            (piece.begin, piece.end)
            for cpu, timeline in self._cpus.items()
            if cpu != loop.cpu and cpu in self._loops
            for piece in timeline.slices
            if piece.visit.pid == loop.thread_id and piece.interruption is None
        )

    def is_traced(self, cpu: int) -> bool:
        """Whether all events of the CPU are recorded, as those of CPUs on which loops poll."""
        return cpu in self._loops

    def slices(self, cpu: int) -> Sequence[Slice]:
        """What this CPU did, without gaps from the window's begin to its end."""
        return self._cpus[cpu].slices

    def _take(self, event: KernelEvent, timeline: CpuTimeline) -> None:
        if event.name == "sched_switch":
            pid = event.fields.get("next_pid")
            timeline.switch(event, self._wakers.pop(pid, None) if isinstance(pid, int) else None)
        elif event.name in _WAKINGS:
            self._waking(event, timeline)
        elif (opened := opened_by(event)) is not None:
            if opened.kind == "memory-pressure" and not timeline.polling:
                # Another task that looks for memory is a visit like any other.
                return
            if opened.kind == "ipi":
                opened.sender = self._ipis.pop(event.cpu, None)
            timeline.interrupt(event.tsc, opened)
        elif (closed := closed_by(event)) is not None:
            timeline.resume(event.tsc, closed)
        else:
            self._annotate(event, timeline)

    def _waking(self, event: KernelEvent, timeline: CpuTimeline) -> None:
        pid = event.fields.get("pid")
        if event.name == "sched_migrate_task":
            self._move(event)
        if isinstance(pid, int):
            self._wakers[pid] = timeline.says()
            if pid in self._loop_cpus:
                self.wakes.append(Wake(event.tsc, pid, timeline.says()))
                self._cpus[self._loop_cpus[pid]].loop_woken(event.tsc)

    def _move(self, event: KernelEvent) -> None:
        pid, origin, target = (event.fields.get(f) for f in ("pid", "orig_cpu", "dest_cpu"))
        if not (isinstance(pid, int) and isinstance(origin, int) and isinstance(target, int)):
            return
        if pid in self._loop_cpus and origin != target:
            self.moves.append(Move(event.tsc, pid, origin, target))
            self._cpus[self._loop_cpus[pid]].cut(event.tsc)

    def _annotate(self, event: KernelEvent, timeline: CpuTimeline) -> None:
        name, fields = event.name, event.fields
        if name in _FUNCTIONS:
            self._function(event.tsc, _symbol(fields.get("function")), timeline)
        elif name == "workqueue_execute_start":
            timeline.visit.works.append(_symbol(fields.get("function")))
        elif name == "tlb_flush" and timeline.open and timeline.open[-1].is_call_function:
            if fields.get("reason") in _REMOTE_FLUSHES or "remote" in str(fields.get("reason")):
                timeline.open[-1].kind = "tlb-shootdown"
        else:
            self._note(event, timeline)
        for cpu in targets_of(event, self._loops):
            self._ipis[cpu] = sender = timeline.says()
            self.kicks.append(Kick(event.tsc, cpu, _symbol(fields.get("callsite")), sender))

    def _note(self, event: KernelEvent, timeline: CpuTimeline) -> None:
        """Of what happens at one moment, and concerns loops on any CPU."""
        name, fields = event.name, event.fields
        if name == "signal_generate":
            self._signal(event, timeline)
        elif name == "cpu_frequency":
            self._fact(event, fields.get("cpu_id", event.cpu), f"now {fields.get('state')} kHz")
        elif name == "mce_record":
            self._fact(event, fields.get("cpu", event.cpu), f"bank {fields.get('bank')}")
        elif name == "rcu_stall_warning":
            self._fact(event, event.cpu, f"{fields.get('msg')}")
        elif name.startswith("page_fault"):
            self.facts.append(CpuFact(event.tsc, event.cpu, "page_fault", "page fault"))
        elif name in ("cgroup_freeze", "cgroup_unfreeze"):
            path = str(fields.get("path", "?"))
            self.freezes.append(Freeze(event.tsc, path, name == "cgroup_freeze", timeline.says()))

    def _fact(self, event: KernelEvent, cpu: int | str, text: str) -> None:
        if isinstance(cpu, int):
            self.facts.append(CpuFact(event.tsc, cpu, event.name, text))

    def _function(self, tsc: int, function: str, timeline: CpuTimeline) -> None:
        if function in _REFILLS:
            self.refills.append(tsc)
        if timeline.open:
            timeline.open[-1].functions.append(function)

    def _signal(self, event: KernelEvent, timeline: CpuTimeline) -> None:
        number, pid = event.fields.get("sig"), event.fields.get("pid")
        if isinstance(number, int) and number in _STOP_SIGNALS and isinstance(pid, int):
            comm = str(event.fields.get("comm", ""))
            self.signals.append(
                Signal(event.tsc, pid, comm, _STOP_SIGNALS[number], timeline.says())
            )


def _symbol(function: int | str | None) -> str:
    """A function's name without offset and module; its address where the name is not known."""
    if isinstance(function, int):
        return f"{function:#x}"
    return "?" if function is None else function.partition("+")[0].strip() or "?"


# The CPUs that an event of an inter-processor interrupt names.
def targets_of(event: KernelEvent, known: Collection[int]) -> tuple[int, ...]:
    """Those of the `known` CPUs that the event interrupts; empty for any other event."""
    if event.name == "ipi_send_cpu":
        target = event.fields.get("cpu")
        return (target,) if isinstance(target, int) and target in known else ()
    if event.name == "ipi_send_cpumask":
        try:
            named = parse_cpu_list(str(event.fields.get("cpumask", "")))
        except InputError:
            return ()
        return tuple(cpu for cpu in known if cpu in named)
    return ()


@dataclass(frozen=True, slots=True)
class TraceCoverage:
    """By CPU, from when to when (TSC) no event of it was lost. CPUs without a trace are absent."""

    complete: Mapping[int, tuple[int, int]] = field(default_factory=dict)

    def covers(self, cpu: int, begin_tsc: int, end_tsc: int) -> bool:
        """Whether every event of the CPU in this time is known."""
        span = self.complete.get(cpu)
        return span is not None and span[0] <= begin_tsc and end_tsc <= span[1]


NO_TRACE = TraceCoverage()


def on_tsc(events: Iterable[KernelEvent], fit: ClockFit) -> list[KernelEvent]:
    """The events of a mono_raw trace with their times as ticks."""
    return [
        KernelEvent(fit.raw.tsc(event.tsc), event.cpu, event.name, event.fields) for event in events
    ]
