"""The threads that poll on given CPUs, of any process, by what /proc says of them."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from plimsoll.host.processes.schedule_stats import (
    ThreadSchedule,
    numbered,
    pinned_to,
    polling_threads,
    read_thread,
    status_field,
)

_PROC = Path("/proc")
# For so long threads are looked at to tell whether they poll; of which a loop runs, or waits for
# its CPU, all but what a reading takes.
_LOOK_S = 0.1
_OF_ITS_TIME = 0.9
# The parent of the kernel's own threads, of which each CPU has some that are pinned to it.
_KTHREADD = 2


@dataclass(frozen=True, slots=True)
class FoundLoop:
    """A thread that polls on `cpu`; `process` is the name of its program.

    One that `sleeps` was mostly asleep when it was looked at, without a frame to forward.
    """

    process: str
    cpu: int
    thread_id: int
    sleeps: bool = False


@dataclass(frozen=True, slots=True)
class _Thread:
    pid: int
    tid: int
    cpu: int
    named: bool


def loops_on(
    cpus: Collection[int], proc: Path = _PROC, sleep: Callable[[float], None] = time.sleep
) -> tuple[FoundLoop, ...]:
    """The loop of each of these CPUs that has one, by CPU; takes a tenth of a second.

    Those of DPDK, Open vSwitch and VPP by what these call them; on other CPUs a thread that may
    run there alone. Of several it is the one that ran longest.
    """
    if not cpus:
        return ()
    threads = [each for each in _threads(proc) if each.cpu in cpus]
    before = _schedules(threads, proc)
    began_ns = time.monotonic_ns()
    sleep(_LOOK_S)
    after = _schedules(threads, proc)
    looked_ns = time.monotonic_ns() - began_ns
    found: list[FoundLoop] = []
    for cpu in sorted(set(cpus)):
        here = [each for each in threads if each.cpu == cpu and each in before and each in after]
        ran = {each: after[each].since(before[each]) for each in here}
        if here:
            best = max(here, key=lambda each: (each.named, ran[each].run_ns, -each.tid))
            busy_ns = ran[best].run_ns + ran[best].wait_ns
            sleeps = not best.named and busy_ns < _OF_ITS_TIME * looked_ns
            found.append(FoundLoop(_name(best.pid, proc), cpu, best.tid, sleeps))
    return tuple(found)


def _threads(proc: Path) -> Iterator[_Thread]:
    """Those that poll by their names, and those that are pinned to one CPU, but for our own."""
    for pid in numbered(proc):
        if pid == os.getpid() or _is_the_kernels(pid, proc):
            continue
        named = polling_threads(pid, proc)
        for tid in numbered(proc / str(pid) / "task"):
            cpu = named.get(tid, pinned_to(pid, tid, proc))
            if cpu is not None:
                yield _Thread(pid, tid, cpu, tid in named)


def _is_the_kernels(pid: int, proc: Path) -> bool:
    with contextlib.suppress(OSError):
        status = (proc / str(pid) / "status").read_text(errors="replace")
        return str(_KTHREADD) in (str(pid), status_field(status, "PPid"))
    return True


def _schedules(threads: Collection[_Thread], proc: Path) -> dict[_Thread, ThreadSchedule]:
    found = {each: read_thread(each.pid, each.tid, proc) for each in threads}
    return {each: schedule for each, schedule in found.items() if schedule is not None}


def _name(pid: int, proc: Path) -> str:
    try:
        return (proc / str(pid) / "comm").read_text(errors="replace").removesuffix("\n")
    except OSError:
        return "?"
