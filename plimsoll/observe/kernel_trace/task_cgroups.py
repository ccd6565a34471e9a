"""The tasks that had a CPU by the kernel's events, and their cgroups."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.host.processes.process_cgroup import cgroup_of
from plimsoll.observe.kernel_trace.event import KernelEvent


def tasks_seen(events: Iterable[KernelEvent]) -> set[int]:
    """By id, those that had a CPU."""
    ids = (event.fields.get("next_pid") for event in events if event.name == "sched_switch")
    return {each for each in ids if isinstance(each, int) and each > 0}


def task_cgroups(events: Iterable[KernelEvent]) -> dict[int, str]:
    """By id, of those that had a CPU and still live."""
    found = {each: cgroup_of(each) for each in tasks_seen(events)}
    return {each: cgroup for each, cgroup in found.items() if cgroup is not None}
