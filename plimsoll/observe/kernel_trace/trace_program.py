"""plimsoll-trace, which reads the kernel's ring buffers: where it is, what it prints."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from plimsoll.errors import MachineError
from plimsoll.host.processes.child import describe_exit, with_parent_death_signal
from plimsoll.host.processes.identity import cgroup_of


class KernelEvent(msgspec.Struct, frozen=True):
    """One event on one CPU; a busy second has a hundred thousand.

    `tsc` is its time by the trace's clock: TSC ticks, or nanoseconds of CLOCK_MONOTONIC_RAW
    where the clock is "mono_raw". `cpu` is where it happened. `fields` are named as the
    kernel names them, and `common_pid` is the thread that was running. Functions are names,
    other addresses hexadecimal text, sets of CPUs lists such as "0,2". `common_comm`, where
    it could be found out, is the name of that thread.
    """

    tsc: int
    cpu: int
    name: str
    fields: Mapping[str, int | str]


TRACE_VARIABLE = "PLIMSOLL_TRACE"
PROGRAM = "plimsoll-trace"
KERNEL_SYMBOLS = Path("/proc/kallsyms")
# Of each CPU; a window of a whole busy second has some thousands.
_MAX_EVENTS = 200_000
# A full buffer of 8 MB takes it half a second.
_PATIENCE_S = 60.0
_LAST_WORDS = 1000
_LINES = msgspec.json.Decoder(dict[str, Any])

Window = tuple[int, int]


@dataclass(frozen=True, slots=True)
class CpuTotals:
    """What was read of one CPU's buffer.

    Counts are events. `left_out` were in a window but more than are taken. `gaps` counts the
    pages before which the kernel lost events, `damaged_pages` those that made no sense.
    Times are 0 where nothing was read; `complete_from_tsc` is that of the first event behind
    the last gap.
    """

    directory: str
    cpu: int
    read: int
    kept: int
    left_out: int
    damaged_pages: int
    gaps: int
    first_tsc: int
    last_tsc: int
    complete_from_tsc: int


def find_trace_program() -> Path | None:
    """plimsoll-trace: $PLIMSOLL_TRACE, in this Python's folder, or on PATH; None without one."""
    installed = Path(sys.executable).parent / PROGRAM
    for candidate in (os.environ.get(TRACE_VARIABLE), installed):
        if candidate and os.access(candidate, os.X_OK):
            return Path(candidate)
    on_path = shutil.which(PROGRAM)
    return Path(on_path) if on_path else None


def read_buffers(
    program: Path,
    directories: Sequence[Path],
    windows: Sequence[Window],
    *,
    environment: Mapping[str, str],
    symbols: Path | None = KERNEL_SYMBOLS,
    started: Callable[[int], None] = lambda pid: None,
) -> tuple[list[KernelEvent], list[CpuTotals]]:
    """Empty the buffers of trace directories: the events inside the windows, and totals.

    Windows are [begin, end] in the trace clock's unit and may overlap. Events are ordered by
    time. `started` hears the program's pid. Raises MachineError when the program fails.
    """
    options = ["--limit", str(_MAX_EVENTS)]
    if symbols is not None:
        options += ["--symbols", str(symbols)]
    lines = "".join(f"{begin} {end}\n" for begin, end in merged(windows))
    with subprocess.Popen(  # noqa: S603 - an argument vector, no shell
        with_parent_death_signal([str(program), *options, *map(str, directories)]),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(environment),
    ) as reader:
        started(reader.pid)
        try:
            output, complaints = reader.communicate(lines.encode(), _PATIENCE_S)
        except BaseException:
            reader.kill()
            raise
    if reader.returncode != 0:
        said = complaints.decode(errors="replace")[-_LAST_WORDS:].strip()
        raise MachineError(
            f"cannot read the kernel's events: {said or describe_exit(reader.returncode)}",
            where=program.name,
        )
    return parse_output(output)


def parse_output(output: bytes) -> tuple[list[KernelEvent], list[CpuTotals]]:
    """What the program printed. Raises MachineError when it is not that."""
    events: list[KernelEvent] = []
    totals: list[CpuTotals] = []
    try:
        for document in _LINES.decode_lines(output):
            if "fields" in document:
                events.append(KernelEvent(**document))
            else:
                totals.append(CpuTotals(**document))
    except (msgspec.DecodeError, TypeError, RecursionError) as error:
        raise MachineError(
            f"what it printed is damaged: {error}", where=PROGRAM, remedy="build Plimsoll anew"
        ) from error
    events.sort(key=lambda event: event.tsc)
    return events, totals


def merged(windows: Sequence[Window]) -> list[Window]:
    """The windows in order, those that overlap as one."""
    result: list[Window] = []
    for begin, end in sorted(windows):
        if result and begin <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((begin, end))
    return result


@dataclass(frozen=True, slots=True)
class TraceUnavailable:
    """What is missing, and in one imperative sentence what to do about it."""

    reason: str
    remedy: str


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
