"""The cgroups of the tasks that kernel events name."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.host.processes.process_cgroup import cgroup_of
from plimsoll.observe.kernel_trace.event import KernelEvent


def task_cgroups(events: Iterable[KernelEvent]) -> dict[int, str]:
    """By id, of those that had a CPU and still live."""
    ids = {event.fields.get("next_pid") for event in events if event.name == "sched_switch"}
    found = {each: cgroup_of(each) for each in ids if isinstance(each, int) and each > 0}
    return {each: cgroup for each, cgroup in found.items() if cgroup is not None}
