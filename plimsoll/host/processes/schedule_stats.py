"""What the kernel's scheduler counted of threads and processes, read from /proc.

The formats are those of Documentation/scheduler/sched-stats.rst (schedstat) and proc(5)
(stat, status). A thread or process that ends while it is read is left out.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from plimsoll.errors import InputError
from plimsoll.host.cpus import parse_cpu_list

_PROC = Path("/proc")
_NS_PER_S = 1_000_000_000
# How DPDK names the threads that run its polling loops: before 22.11, to 23.07, and since.
# As DPDK calls them, as Open vSwitch does (cut off at 15 characters), as VPP does.
_POLLING_THREAD = re.compile(
    r"(lcore-worker-|rte-worker-|dpdk-worker)\d+|pmd-c\d+/id:\d*|vpp_wk_\d+"
)


class ThreadSchedule(NamedTuple):
    """Totals of a thread since it began.

    `run_ns` is the time it ran and `wait_ns` the time it was ready to and waited for its CPU;
    `slices` is how often it was put on a CPU, `involuntary_switches` how often it was taken
    off one while it had more to do.
    """

    run_ns: int
    wait_ns: int
    slices: int
    involuntary_switches: int

    def since(self, earlier: ThreadSchedule) -> ThreadSchedule:
        """What was added since an earlier reading of the same thread."""
        return ThreadSchedule(*(now - then for now, then in zip(self, earlier, strict=True)))


class RunningProcess(NamedTuple):
    """A process: its command, the totals of its living threads, and where one last ran.

    `cpu` is the CPU that its main thread was last seen on.
    """

    comm: str
    run_ns: int
    slices: int
    cpu: int


def read_thread(pid: int, tid: int, proc: Path = _PROC) -> ThreadSchedule | None:
    """A thread's totals; None when it has ended, or the kernel counts nothing."""
    task = proc / str(pid) / "task" / str(tid)
    try:
        run_ns, wait_ns, slices = parse_schedstat((task / "schedstat").read_text())
        status = (task / "status").read_text(errors="replace")
    except (OSError, ValueError):
        return None
    switches = status_field(status, "nonvoluntary_ctxt_switches")
    return ThreadSchedule(run_ns, wait_ns, slices, int(switches or 0))


def polling_threads(pid: int, proc: Path = _PROC) -> dict[int, int]:
    """By thread id, the CPU that each of a process's polling loops is pinned to.

    Of processes on DPDK, of Open vSwitch and of VPP, by what they call these threads.

    A loop that may run on several CPUs has the one it was last seen on.
    """
    found: dict[int, int] = {}
    for tid in numbered(proc / str(pid) / "task"):
        task = proc / str(pid) / "task" / str(tid)
        with contextlib.suppress(OSError, ValueError):
            if _POLLING_THREAD.fullmatch((task / "comm").read_text(errors="replace").strip()):
                cpu = pinned_to(pid, tid, proc)
                found[tid] = parse_stat((task / "stat").read_text()).cpu if cpu is None else cpu
    return found


def running_processes(proc: Path = _PROC) -> dict[int, RunningProcess]:
    """By pid, every process and kernel thread there is.

    Reads some two files for each: for before and after a trial, never while it sends.
    """
    found: dict[int, RunningProcess] = {}
    for pid in numbered(proc):
        with contextlib.suppress(OSError, ValueError):
            stat = parse_stat((proc / str(pid) / "stat").read_text(errors="replace"))
            run_ns, slices = _process_totals(pid, stat, proc)
            found[pid] = RunningProcess(stat.comm, run_ns, slices, stat.cpu)
    return found


def pinned_to(pid: int, tid: int | None = None, proc: Path = _PROC) -> int | None:
    """The one CPU that a process, or a thread of it, may run on; None where there are more."""
    task = proc / str(pid) if tid is None else proc / str(pid) / "task" / str(tid)
    try:
        status = (task / "status").read_text(errors="replace")
        cpus = parse_cpu_list(status_field(status, "Cpus_allowed_list") or "")
    except (OSError, InputError):
        return None
    return cpus[0] if len(cpus) == 1 else None


def parse_schedstat(text: str) -> tuple[int, int, int]:
    """ns on a CPU, ns waiting for one, and slices. Raises ValueError for anything else."""
    run_ns, wait_ns, slices = (int(field) for field in text.split())
    return run_ns, wait_ns, slices


class Stat(NamedTuple):
    """Of /proc/PID/stat: fields 2, 20, 39, and the sum of 14 and 15 in clock ticks."""

    comm: str
    threads: int
    cpu: int
    ticks: int


def parse_stat(text: str) -> Stat:
    """Raises ValueError for anything but a stat file of this kernel or a later one."""
    # The command is in parentheses and may itself hold blanks and parentheses.
    head, closing, tail = text.rpartition(")")
    fields = tail.split()
    if not closing or len(fields) < 37:
        raise ValueError("not a stat file")
    return Stat(
        comm=head.partition("(")[2],
        threads=int(fields[17]),
        cpu=int(fields[36]),
        ticks=int(fields[11]) + int(fields[12]),
    )


def status_field(text: str, name: str) -> str | None:
    """The value of a line "name:<tab>value" of a status file; None without that line."""
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key == name:
            return value.strip()
    return None


def _process_totals(pid: int, stat: Stat, proc: Path) -> tuple[int, int]:
    """ns run and slices of all threads; by clock ticks, and no slices, without schedstat."""
    run_ns = slices = 0
    # A process's own schedstat is that of its main thread alone.
    for task in _schedstats(pid, stat, proc):
        with contextlib.suppress(OSError):
            thread_ns, _, thread_slices = parse_schedstat(task.read_text())
            run_ns, slices = run_ns + thread_ns, slices + thread_slices
    return (run_ns or stat.ticks * _NS_PER_S // os.sysconf("SC_CLK_TCK")), slices


def _schedstats(pid: int, stat: Stat, proc: Path) -> Iterator[Path]:
    process = proc / str(pid)
    if stat.threads == 1:
        yield process / "schedstat"
        return
    for tid in numbered(process / "task"):
        yield process / "task" / str(tid) / "schedstat"


def numbered(folder: Path) -> list[int]:
    """The entries that are numbers: of /proc the processes, of a task folder its threads."""
    try:
        return sorted(int(entry.name) for entry in folder.iterdir() if entry.name.isdecimal())
    except OSError:
        return []


LOOK_S = 0.5
# A loop that loses a tenth of its CPU loses its queues' length at any load worth finding;
# the tick and the kernel's own threads take less than a hundredth.
_MIN_SHARE = 0.1
_MIN_NAMED_SHARE = 0.03
_MAX_NAMED = 3
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
    return tuple(each for each in found if each.share >= _MIN_SHARE)


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
        for (comm, pid), share in others[:_MAX_NAMED]
        if share >= _MIN_NAMED_SHARE
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
