"""plimsoll-trace, which reads the kernel's ring buffers: where it is, what it prints."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from plimsoll.errors import MachineError
from plimsoll.host.processes.child import describe_exit, tied_to_parent
from plimsoll.observe.kernel_trace.event import KernelEvent

TRACE_VARIABLE = "PLIMSOLL_TRACE"
PROGRAM = "plimsoll-trace"
KERNEL_SYMBOLS = Path("/proc/kallsyms")
# Of each CPU; a window of a whole busy second has some thousands.
_MOST_EVENTS = 200_000
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
    options = ["--limit", str(_MOST_EVENTS)]
    if symbols is not None:
        options += ["--symbols", str(symbols)]
    lines = "".join(f"{begin} {end}\n" for begin, end in merged(windows))
    with subprocess.Popen(  # noqa: S603 - an argument vector, no shell
        tied_to_parent([str(program), *options, *map(str, directories)]),
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
