"""What else runs on CPUs that are about to be polled: a look of half a second."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from plimsoll.host.processes.schedule_stats import parse_schedstat, parse_stat

_PROC = Path("/proc")
LOOK_S = 0.5
# A loop that loses a tenth of its CPU loses its queues' length at any load worth finding;
# the tick and the kernel's own threads take less than a hundredth.
_LEAST_SHARE = 0.1
_LEAST_NAMED_SHARE = 0.03
_MOST_NAMED = 3
_NS_PER_S = 1e9
# Of a line "cpu0 …" of /proc/stat (proc(5)): user, nice, system, then irq and softirq.
_BUSY_FIELDS = (0, 1, 2, 5, 6)


class _Thread(NamedTuple):
    comm: str
    cpu: int
    run_ns: int


class BusyCpu(NamedTuple):
    """A CPU, the share of the time that it was busy, and its busiest processes with theirs."""

    cpu: int
    share: float
    processes: tuple[tuple[str, int, float], ...]

    def __str__(self) -> str:
        names = ", ".join(f"{comm} ({pid})" for comm, pid, _ in self.processes)
        who = names or "processes that have ended, or interrupts"
        return f"CPU {self.cpu} is {self.share * 100:.0f} % busy with {who}"


def look_at_cpus(
    cpus: Collection[int],
    ours: Collection[int] = (),
    proc: Path = _PROC,
    wait: Callable[[float], None] = time.sleep,
) -> tuple[BusyCpu, ...]:
    """Those of the CPUs that were busy, by number; sleeps for LOOK_S.

    The processes `ours`, and this one, are not named, and what they ran is not counted.
    """
    if not cpus:
        return ()
    threads = dict(_threads(proc))
    before = _busy_s(proc)
    wait(LOOK_S)
    after = _busy_s(proc)
    ran = _ran_ns(threads, dict(_threads(proc)))
    left_out = {*ours, os.getpid()}
    found = (_busy_cpu(cpu, _added(cpu, before, after), ran, left_out) for cpu in sorted(set(cpus)))
    return tuple(each for each in found if each.share >= _LEAST_SHARE)


def _busy_cpu(
    cpu: int, busy_s: float, ran: dict[tuple[int, str, int], int], left_out: Collection[int]
) -> BusyCpu:
    shares = {
        (comm, pid): ns / _NS_PER_S / LOOK_S for (pid, comm, on), ns in ran.items() if on == cpu
    }
    own = sum(share for (_, pid), share in shares.items() if pid in left_out)
    others = sorted(
        (each for each in shares.items() if each[0][1] not in left_out), key=lambda each: -each[1]
    )
    named = tuple(
        (comm, pid, share)
        for (comm, pid), share in others[:_MOST_NAMED]
        if share >= _LEAST_NAMED_SHARE
    )
    return BusyCpu(cpu, min(1.0, max(0.0, busy_s / LOOK_S - own)), named)


def _ran_ns(
    before: dict[tuple[int, int], _Thread], after: dict[tuple[int, int], _Thread]
) -> dict[tuple[int, str, int], int]:
    """By pid, command and the CPU that its threads were last seen on, what they ran."""
    ran: dict[tuple[int, str, int], int] = {}
    for (pid, tid), thread in after.items():
        earlier = before.get((pid, tid))
        # A thread that is new began between the two looks, so all that it ran counts.
        added_ns = thread.run_ns - (earlier.run_ns if earlier else 0)
        key = (pid, thread.comm, thread.cpu)
        ran[key] = ran.get(key, 0) + max(0, added_ns)
    return ran


def _threads(proc: Path) -> Iterator[tuple[tuple[int, int], _Thread]]:
    """Every thread of the machine, under its process's command; without schedstat none."""
    for process in proc.iterdir():
        if not process.name.isdecimal():
            continue
        with contextlib.suppress(OSError, ValueError):
            comm = parse_stat((process / "stat").read_text(errors="replace")).comm
            for task in (process / "task").iterdir():
                stat = parse_stat((task / "stat").read_text(errors="replace"))
                run_ns, _, _ = parse_schedstat((task / "schedstat").read_text())
                yield (int(process.name), int(task.name)), _Thread(comm, stat.cpu, run_ns)


def _busy_s(proc: Path) -> dict[int, float]:
    """By CPU, the seconds since boot that it was neither idle nor taken by a hypervisor."""
    ticks_a_second = os.sysconf("SC_CLK_TCK")
    busy: dict[int, float] = {}
    for line in (proc / "stat").read_text().splitlines():
        name, *fields = line.split()
        if name.startswith("cpu") and name[3:].isdecimal():
            busy[int(name[3:])] = sum(int(fields[i]) for i in _BUSY_FIELDS) / ticks_a_second
    return busy


def _added(cpu: int, before: dict[int, float], after: dict[int, float]) -> float:
    return after.get(cpu, 0.0) - before.get(cpu, 0.0)
