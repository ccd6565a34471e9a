"""Which kernel events are recorded, and why these."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from plimsoll.host.cpus import format_cpu_list

# What takes a CPU away from the thread that polls on it, recorded on the CPUs under test.
# Page faults are not among them: a compiler alone makes 100,000 a second, which would
# overwrite all else within seconds; a loop's own are recorded by ON_LOOPS.
ON_TESTED_CPUS = (
    "sched:sched_switch",
    "irq:irq_handler_entry",
    "irq:irq_handler_exit",
    "irq:softirq_raise",
    "irq:softirq_entry",
    "irq:softirq_exit",
    "irq:tasklet_entry",
    "irq:tasklet_exit",
    "irq_vectors:*_entry",
    "irq_vectors:*_exit",
    "nmi:nmi_handler",
    "timer:hrtimer_expire_entry",
    "timer:hrtimer_expire_exit",
    "timer:timer_expire_entry",
    "timer:timer_expire_exit",
    "workqueue:workqueue_execute_start",
    "workqueue:workqueue_execute_end",
    "tlb:tlb_flush",
    "thermal:thermal_temperature",
    "thermal:thermal_zone_trip",
    "power:cpu_idle",
    "vmscan:mm_vmscan_direct_reclaim_begin",
    "vmscan:mm_vmscan_direct_reclaim_end",
    "vmscan:mm_vmscan_memcg_reclaim_begin",
    "vmscan:mm_vmscan_memcg_reclaim_end",
    "compaction:mm_compaction_begin",
    "compaction:mm_compaction_end",
    "rcu:rcu_batch_start",
    "rcu:rcu_batch_end",
)

# Recorded on the CPUs under test while a polling loop itself runs, as any other task has some
# thousands of these a second.
ON_LOOPS = (
    "exceptions:page_fault_user",
    "exceptions:page_fault_kernel",
    "lock:contention_begin",
    "lock:contention_end",
)

# Of these the flushes that come with every change of task (reason 0) are left out: they are
# half of all events on a busy CPU and say no more than sched_switch.
FILTERS_ON_TESTED_CPUS = {"tlb:tlb_flush": "reason != 0"}


@dataclass(frozen=True, slots=True)
class FilteredEvent:
    """An event recorded on every CPU, where `filter_of(the CPUs under test)` lets it through."""

    name: str
    filter_of: Callable[[Collection[int]], str]


def on_cpus(field: str) -> Callable[[Collection[int]], str]:
    """A filter by a field that holds the number of a CPU."""
    return lambda cpus: " || ".join(
        f"{field} == {first}" if first == last else f"({field} >= {first} && {field} <= {last})"
        for first, last in _ranges(cpus)
    )


# Recorded on every CPU: at each tick, and whenever a loop's run time is brought up to date, be it
# by a CPU that wakes a task where the loop polls. What of the time since the last one is missing
# in the run time was stolen.
RUN_TIME = "sched:sched_stat_runtime"


def by_threads(field: str, threads: Collection[int]) -> str:
    """A filter by a field that holds the number of a thread."""
    return " || ".join(f"{field} == {thread}" for thread in sorted(threads))


def _ranges(cpus: Collection[int]) -> Iterator[tuple[str, str]]:
    for part in format_cpu_list(cpus).split(","):
        first, _, last = part.partition("-")
        yield first, last or first


def _any_of_mask(cpus: Collection[int]) -> str:
    # Masks can be filtered by since Linux 6.6; before that these are recorded unfiltered.
    return f"cpumask & CPUS{{{format_cpu_list(cpus)}}}"


# What any CPU does to those under test: wakes a task there, moves one there, interrupts them,
# sets their frequency, stops a process. The wakers and senders mostly run elsewhere, so
# these are recorded everywhere, and only where they concern the CPUs under test.
# sched_waking has the CPU on which the task ran last; sched_migrate_task, still in the
# waker's context, tells when another is chosen.
ELSEWHERE = (
    FilteredEvent("sched:sched_waking", on_cpus("target_cpu")),
    FilteredEvent("sched:sched_wakeup_new", on_cpus("target_cpu")),
    FilteredEvent(
        "sched:sched_migrate_task",
        lambda cpus: f"{on_cpus('dest_cpu')(cpus)} || {on_cpus('orig_cpu')(cpus)}",
    ),
    FilteredEvent("ipi:ipi_send_cpu", on_cpus("cpu")),
    FilteredEvent("ipi:ipi_send_cpumask", _any_of_mask),
    FilteredEvent("workqueue:workqueue_queue_work", on_cpus("cpu")),
    FilteredEvent("power:cpu_frequency", on_cpus("cpu_id")),
    # SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, and SIGKILL, which ends the polling process.
    FilteredEvent("signal:signal_generate", lambda _: "(sig >= 18 && sig <= 22) || sig == 9"),
    FilteredEvent("cgroup:cgroup_freeze", lambda _: ""),
    FilteredEvent("cgroup:cgroup_unfreeze", lambda _: ""),
    FilteredEvent("oom:mark_victim", lambda _: ""),
    FilteredEvent("rcu:rcu_stall_warning", lambda _: ""),
    FilteredEvent("mce:mce_record", on_cpus("cpu")),
)


def matching_events(events: Path, pattern: str) -> list[str]:
    """The events in a tracefs events/ directory that "system:name" matches, its name a glob."""
    system, name = pattern.split(":")
    try:
        found = sorted(each.parent.name for each in (events / system).glob("*/enable"))
    except OSError:
        return []
    return [f"{system}:{each}" for each in found if fnmatchcase(each, name)]
