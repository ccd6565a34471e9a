"""What one CPU did from event to event: which task it ran, and what interrupted it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from plimsoll.attribution.incidents.incident import CauseKind
from plimsoll.observe.kernel_trace.trace_program import KernelEvent

# include/linux/interrupt.h: the softirqs by number.
_SOFTIRQS = (
    "HI",
    "TIMER",
    "NET_TX",
    "NET_RX",
    "BLOCK",
    "IRQ_POLL",
    "TASKLET",
    "SCHED",
    "HRTIMER",
    "RCU",
)
# Vectors by which one CPU interrupts another: arch/x86/include/asm/trace/irq_vectors.h.
_IPIS = ("reschedule", "call_function", "call_function_single", "irq_work", "x86_platform_ipi")
_OTHER_VECTORS = (
    "local_timer",
    "thermal_apic",
    "threshold_apic",
    "deferred_error_apic",
    "error_apic",
    "spurious_apic",
)
# What the kernel does for memory in the context of the task that allocates.
_RECLAIMS = {
    "mm_vmscan_direct_reclaim": "direct reclaim of memory",
    "mm_vmscan_memcg_reclaim": "reclaim of a cgroup's memory",
    "mm_compaction": "compaction of memory",
}
# A loop that waits for a lock, be it by polling for it or asleep.
CONTENTION = "contention"
# The scheduler's tick: tick_sched_timer until Linux 6.8, tick_nohz_handler since.
_TICKS = ("tick_nohz_handler", "tick_sched_timer", "tick_handle_periodic")


@dataclass(slots=True)
class Interruption:
    """An interrupt or softirq that is being handled; functions that ran in it are added."""

    kind: CauseKind
    name: str
    key: str
    sender: str | None = None
    functions: list[str] = field(default_factory=list)

    @property
    def is_call_function(self) -> bool:
        """Whether another CPU had a function run here, as a TLB shootdown does."""
        return self.key.startswith("call_function")

    @property
    def full_kind(self) -> CauseKind:
        """The kind, now that it is known what ran in it."""
        if self.key == "local_timer":
            # A tick that comes with many other timers is not what took the time.
            ticks = sum(name in _TICKS for name in self.functions)
            return "timer-tick" if 2 * ticks >= len(self.functions) else "interrupt"
        return self.kind

    @property
    def full_name(self) -> str:
        """The name with the functions that ran in it: "softirq TIMER (process_timeout)"."""
        if not self.functions:
            return self.name
        return f"{self.name} ({', '.join(dict.fromkeys(self.functions))})"


# What begins by an event whose name says all of it: kind, name, key.
_OPENED: dict[str, tuple[CauseKind, str, str]] = {
    **{f"{key}_begin": ("memory-pressure", name, key) for key, name in _RECLAIMS.items()},
    **{f"{vector}_entry": ("ipi", f"IPI {vector}", vector) for vector in _IPIS},
    **{f"{vector}_entry": ("interrupt", vector, vector) for vector in _OTHER_VECTORS},
    "contention_begin": ("lock-contention", "a lock of the kernel", CONTENTION),
    "rcu_batch_start": ("rcu", "RCU callbacks", "rcu_batch"),
}
_CLOSED = {
    "contention_end": CONTENTION,
    "rcu_batch_end": "rcu_batch",
    **{f"{key}_end": key for key in _RECLAIMS},
    **{f"{vector}_exit": vector for vector in (*_IPIS, *_OTHER_VECTORS)},
}


def opened_by(event: KernelEvent) -> Interruption | None:
    """The interruption that begins with this event; None for any other event."""
    if (opened := _OPENED.get(event.name)) is not None:
        return Interruption(*opened)
    if event.name == "softirq_entry":
        return Interruption("softirq", f"softirq {_softirq(event)}", _softirq(event))
    if event.name == "irq_handler_entry":
        irq, name = event.fields.get("irq", "?"), event.fields.get("name", "")
        return Interruption("interrupt", f"irq {irq} {name}".strip(), f"irq {irq}")
    return None


def is_tick(event: KernelEvent) -> bool:
    """Whether the scheduler's tick begins with this event."""
    function = str(event.fields.get("function", ""))
    return event.name == "hrtimer_expire_entry" and function.partition("+")[0].strip() in _TICKS


def closed_by(event: KernelEvent) -> str | None:
    """The key of the interruption that ends with this event; None for any other event."""
    if (closed := _CLOSED.get(event.name)) is not None:
        return closed
    if event.name == "softirq_exit":
        return _softirq(event)
    if event.name == "irq_handler_exit":
        return f"irq {event.fields.get('irq', '?')}"
    return None


def _softirq(event: KernelEvent) -> str:
    vector = event.fields.get("vec", "?")
    if isinstance(vector, int) and 0 <= vector < len(_SOFTIRQS):
        return _SOFTIRQS[vector]
    return str(vector)


# Raised while the scheduler switches, with the identity of the task that goes.
_STALE_IDENTITY = ("tlb_flush",)
# "woken" is what a task that slept becomes: it could run, and waits for the CPU. One that left its
# CPU while it waited for a lock is "contended".
LeftAs = Literal["runnable", "stopped", "traced", "slept", "blocked", "contended", "woken"]
# include/linux/sched.h: TASK_INTERRUPTIBLE, TASK_UNINTERRUPTIBLE, __TASK_STOPPED,
# __TASK_TRACED, TASK_IDLE as the event reports it. 0 and TASK_REPORT_MAX are runnable.
_BITS: tuple[tuple[int, LeftAs], ...] = (
    (0x04, "stopped"),
    (0x08, "traced"),
    (0x02, "blocked"),
    (0x01, "slept"),
    (0x80, "slept"),
)
_LETTERS: dict[str, LeftAs] = {
    "R": "runnable",
    "S": "slept",
    "I": "slept",
    "D": "blocked",
    "T": "stopped",
    "t": "traced",
}


@dataclass(slots=True)
class Visit:
    """A task on the CPU from one switch to the next. `pid` is None until it is known.

    `certain` is false where the switch away from it is missing in the trace: it ended some
    time before its last slice does.
    """

    pid: int | None
    comm: str
    woken_by: str | None = None
    works: list[str] = field(default_factory=list)
    certain: bool = True


@dataclass(frozen=True, slots=True)
class Slice:
    """A time in which nothing changed on a CPU.

    `loop_left_as` is the state in which the polling loop left the CPU; None while it is on
    it, and where it left before the trace begins.
    """

    begin: int
    end: int
    visit: Visit
    interruption: Interruption | None
    loop_left_as: LeftAs | None


class CpuTimeline:
    """Takes the events of one CPU in order; `slices` are what came of them.

    `loop_tid` is the polling thread whose CPU it is; None where none polls.
    """

    def __init__(self, begin: int, loop_tid: int | None) -> None:
        """Begin with a task that is not known yet."""
        self.slices: list[Slice] = []
        self.visit = Visit(None, "")
        self.open: list[Interruption] = []
        self._loop_tid = loop_tid
        self._loop_left_as: LeftAs | None = None
        self._since = begin

    def learn(self, event: KernelEvent) -> None:
        """Correct the current task by the identity that the event carries, if it does."""
        fields = event.fields
        pid = fields.get("common_pid", fields.get("prev_pid"))
        if not isinstance(pid, int) or event.name in _STALE_IDENTITY:
            return
        comm = str(fields.get("prev_comm", fields.get("common_comm", "")))
        if self.visit.pid is None:
            self.visit.pid = pid
        elif self.visit.pid != pid:
            self.visit.certain = False
            self._enter(event.tsc, Visit(pid, comm))
        self.visit.comm = self.visit.comm or comm

    def switch(self, event: KernelEvent, woken_by: str | None) -> None:
        """A sched_switch."""
        self.cut(event.tsc)
        contended = any(each.key == CONTENTION for each in self.open)
        # Interrupts end before the scheduler switches: what is open has lost its end.
        self.open.clear()
        if self.visit.pid == self._loop_tid:
            state = left_as(event.fields.get("prev_state"))
            waits = contended and state in ("slept", "blocked")
            self._loop_left_as = "contended" if waits else state
        pid = event.fields.get("next_pid")
        comm = str(event.fields.get("next_comm", ""))
        self._enter(event.tsc, Visit(pid if isinstance(pid, int) else None, comm, woken_by))

    def loop_woken(self, tsc: int) -> None:
        """The polling loop may run again, and is not on the CPU yet."""
        self.cut(tsc)
        if self._loop_left_as not in (None, "runnable"):
            self._loop_left_as = "woken"

    def interrupt(self, tsc: int, interruption: Interruption) -> None:
        """An interruption begins."""
        self.cut(tsc)
        self.open.append(interruption)

    def resume(self, tsc: int, key: str) -> None:
        """The interruption of this key ends, with all in it whose end was lost."""
        for at in reversed(range(len(self.open))):
            if self.open[at].key == key:
                self.cut(tsc)
                del self.open[at:]
                return

    def cut(self, tsc: int) -> None:
        """End the current slice here and begin another."""
        if tsc > self._since:
            inner = self.open[-1] if self.open else None
            self.slices.append(Slice(self._since, tsc, self.visit, inner, self._loop_left_as))
            self._since = tsc

    def finish(self, tsc: int) -> None:
        """The window ends here; a visit that has not ended yet has no known end."""
        self.visit.certain = self.visit.pid in (None, self._loop_tid)
        self.cut(tsc)

    @property
    def polling(self) -> bool:
        """Whether the loop has the CPU, as far as is known."""
        return self.visit.pid in (None, self._loop_tid)

    def says(self) -> str | None:
        """Who acts on this CPU now, for people; None where that is not known."""
        if self.open:
            return self.open[-1].full_name
        if self.visit.pid is None:
            return None
        if self.visit.pid == 0:
            return "the idle task"
        return f"{self.visit.comm} ({self.visit.pid})" if self.visit.comm else None

    def _enter(self, tsc: int, visit: Visit) -> None:
        self.cut(tsc)
        self.visit = visit
        if visit.pid == self._loop_tid:
            self._loop_left_as = None


# The state in which a task left its CPU, as sched_switch has it.
def left_as(prev_state: int | str | None) -> LeftAs | None:
    """From the field prev_state, a number or the letters of its text; None if unknown."""
    if isinstance(prev_state, str):
        return _LETTERS.get(prev_state[:1])
    if prev_state is None:
        return None
    if prev_state & 0xFF == 0:
        return "runnable"
    return next((name for bits, name in _BITS if prev_state & bits), None)
