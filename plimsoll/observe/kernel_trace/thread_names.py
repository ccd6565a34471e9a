"""The names of the threads during whose time events happened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from plimsoll.host.processes.process_cgroup import cgroup_of
from plimsoll.observe.kernel_trace.event import KernelEvent

_PROC = Path("/proc")
# Fields of events that name a thread, by the field with its id.
_NAMES = {"prev_pid": "prev_comm", "next_pid": "next_comm", "pid": "comm"}


def with_thread_names(events: Sequence[KernelEvent], proc: Path = _PROC) -> list[KernelEvent]:
    """The events with `common_comm`, the name of the thread `common_pid`, where it is known.

    From the events themselves, or else from /proc, where a thread that has ended is not
    found. The kernel's own list (saved_cmdlines) is not used: a name with a newline in it
    would forge the next line's.
    """
    names = _names_in(events)
    return [_named(event, names, proc) for event in events]


def _names_in(events: Sequence[KernelEvent]) -> dict[int, str | None]:
    names: dict[int, str | None] = {}
    # By the event's name: most events name no thread, and all of a name have the same fields.
    fields_of: dict[str, tuple[tuple[str, str], ...]] = {}
    for event in events:
        if (fields := fields_of.get(event.name)) is None:
            fields = tuple(each for each in _NAMES.items() if each[0] in event.fields)
            fields_of[event.name] = fields
        for id_field, name_field in fields:
            thread, name = event.fields.get(id_field), event.fields.get(name_field)
            if isinstance(thread, int) and thread != 0 and isinstance(name, str):
                names[thread] = name
    return names


def _named(event: KernelEvent, names: dict[int, str | None], proc: Path) -> KernelEvent:
    thread = event.fields.get("common_pid")
    # 0 is whichever CPU's idle task.
    if not isinstance(thread, int) or thread == 0:
        return event
    if thread not in names:
        names[thread] = _name_now(thread, proc)
    name = names[thread]
    if name is None:
        return event
    return KernelEvent(event.tsc, event.cpu, event.name, {**event.fields, "common_comm": name})


def _name_now(thread: int, proc: Path) -> str | None:
    try:
        return (proc / str(thread) / "comm").read_text(errors="replace").removesuffix("\n")
    except OSError:
        return None


# The tasks that had a CPU by the kernel's events, and their cgroups.
def tasks_seen(events: Iterable[KernelEvent]) -> set[int]:
    """By id, those that had a CPU."""
    ids = (event.fields.get("next_pid") for event in events if event.name == "sched_switch")
    return {each for each in ids if isinstance(each, int) and each > 0}


def task_cgroups(events: Iterable[KernelEvent]) -> dict[int, str]:
    """By id, of those that had a CPU and still live."""
    found = {each: cgroup_of(each) for each in tasks_seen(events)}
    return {each: cgroup for each, cgroup in found.items() if cgroup is not None}
