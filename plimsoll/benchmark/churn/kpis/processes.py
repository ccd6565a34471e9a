"""CPU time and memory of processes on this machine, and of the machine, from /proc."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
# Of a process's stat after its name: utime and stime, from 0; of the machine's: idle, iowait.
_USER, _SYSTEM = 11, 12
_IDLE = (3, 4)
# Guest time is in user time already.
_COUNTED = 8


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """CPU time used so far, in s, and memory resident now, in bytes."""

    cpu_s: float
    resident_bytes: int


def usage_of(pid: int, proc: Path = _PROC) -> ProcessUsage | None:
    """Of a process with all its threads; None where it has ended."""
    try:
        stat = (proc / str(pid) / "stat").read_text()
        pages = int((proc / str(pid) / "statm").read_text().split()[1])
    except (OSError, IndexError):
        return None
    fields = stat.rpartition(")")[2].split()
    ticks = int(fields[_USER]) + int(fields[_SYSTEM])
    return ProcessUsage(ticks / _TICKS_PER_S, pages * _PAGE_BYTES)


def machine_cpu_s(proc: Path = _PROC) -> float:
    """The time that all CPUs together were not idle so far, in s."""
    first = (proc / "stat").read_text().split("\n", 1)[0].split()[1:]
    ticks = [int(each) for each in first[:_COUNTED]]
    return (sum(ticks) - sum(ticks[place] for place in _IDLE)) / _TICKS_PER_S


def machine_memory_bytes(proc: Path = _PROC) -> int:
    """Memory that is not available any more."""
    lines = (line.split() for line in (proc / "meminfo").read_text().splitlines())
    found: Mapping[str, int] = {line[0].rstrip(":"): int(line[1]) for line in lines}
    return (found["MemTotal"] - found["MemAvailable"]) * 1024
