"""Interrupts and softirqs: what the events that open and close them mean."""

from __future__ import annotations

from dataclasses import dataclass, field

from plimsoll.attribution.incidents.cause import CauseKind
from plimsoll.observe.kernel_trace.event import KernelEvent

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
