"""One trace instance of ours: ring buffers of chosen CPUs and the events that go there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from plimsoll.host.cpus import format_cpu_list
from plimsoll.host.ledger.trace_instance import remove_trace_instance, trace_instance

# The kernel's least: two pages.
_MIN_BUFFER_KB = 8
_LOST = ("overrun", "commit overrun", "dropped events")


class TraceInstance:
    """A directory in tracefs's instances/. Every method raises OSError as the kernel does."""

    def __init__(self, name: str) -> None:
        """Make it, not recording, all its buffers as small as can be."""
        self.name = name
        self.directory = trace_instance(name)
        self.directory.mkdir()
        self._write("tracing_on", "0")
        self._write("buffer_size_kb", str(_MIN_BUFFER_KB))
        # The newest events stay: what is needed is read soon after it happened.
        self._write("options/overwrite", "1")

    def use_clock(self, preferred: Collection[str]) -> str:
        """Choose the first clock of `preferred` that the kernel has; which one it was."""
        offered = (self.directory / "trace_clock").read_text().replace("[", "").replace("]", "")
        clock = next(clock for clock in preferred if clock in offered.split())
        self._write("trace_clock", clock)
        return clock

    def limit_to_cpus(self, cpus: Collection[int]) -> None:
        """Record events that happen on these CPUs only."""
        self._write("tracing_cpumask", cpu_mask(cpus))

    def size_buffers(self, kb_by_cpu: Mapping[int, int]) -> None:
        """Give the buffers of some CPUs these sizes in KiB."""
        for cpu, kb in kb_by_cpu.items():
            self._write(f"per_cpu/cpu{cpu}/buffer_size_kb", str(kb))

    def enable(self, event: str, filter_text: str = "") -> None:
        """Record an event, "system:name", where the kernel's filter says so.

        A filter that this kernel cannot have is left away: then more is recorded.
        """
        system, name = event.split(":")
        place = f"events/{system}/{name}"
        if filter_text:
            with contextlib.suppress(OSError):
                self._write(f"{place}/filter", filter_text)
        self._write(f"{place}/enable", "1")

    def start(self) -> None:
        """Empty the buffers and record from now on."""
        # Opening for writing from the start is what empties them.
        os.close(os.open(self.directory / "trace", os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC))
        self._write("tracing_on", "1")

    def stop(self) -> None:
        """Record no more; what was recorded stays."""
        self._write("tracing_on", "0")

    def lost(self, cpu: int) -> int:
        """How many events of a CPU were overwritten or never written since start()."""
        figures = self._figures(cpu)
        return sum(figures.get(name, 0) for name in _LOST)

    def seen(self, cpu: int) -> int:
        """How many events of a CPU there were since start(), lost and read ones included."""
        figures = self._figures(cpu)
        return sum(figures.get(name, 0) for name in ("entries", "read events", *_LOST))

    def remove(self) -> None:
        """Stop recording, free the buffers."""
        remove_trace_instance(self.name)

    def _figures(self, cpu: int) -> dict[str, int]:
        """The counters among what the kernel says of a CPU's buffer."""
        text = (self.directory / f"per_cpu/cpu{cpu}/stats").read_text()
        lines = (line.partition(": ") for line in text.splitlines())
        return {name: int(value) for name, _, value in lines if value.isdecimal()}

    def _write(self, name: str, text: str) -> None:
        path = self.directory / name
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(descriptor, text.encode())
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from error
        finally:
            os.close(descriptor)


def cpu_mask(cpus: Collection[int]) -> str:
    """A set of CPUs as the kernel reads masks: hexadecimal words of 32 bits, the highest first.

    >>> cpu_mask({0, 33})
    '00000002,00000001'
    """
    bits = sum(1 << cpu for cpu in cpus)
    words = [f"{bits >> at & 0xFFFFFFFF:08x}" for at in range(0, bits.bit_length(), 32)]
    return ",".join(reversed(words)) or "0"


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
