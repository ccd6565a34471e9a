"""Who had the polled CPUs during a trial: /proc, read just before it and just after."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from plimsoll.host.processes.schedule_stats import (
    RunningProcess,
    ThreadSchedule,
    pinned_to,
    polling_threads,
    read_thread,
    running_processes,
)
from plimsoll.record.trials.trial_parts import (
    OtherProcessRecord,
    PollingThreadRecord,
    ScheduleRecord,
)

_PROC = Path("/proc")
_OURS = "plimsoll"
_MAX_OTHERS = 8
# Less is the kernel's own threads at their ordinary work.
_MIN_RUN_NS = 500_000
# A thread of a process: its pid and its own id.
_Thread = tuple[int, int]


class ScheduleWatch:
    """Begins when it is made: before the first frame, as it reads files of every process."""

    def __init__(self, pids: Mapping[str, int], proc: Path = _PROC) -> None:
        """`pids` are those of the processes that poll, by their names in the record."""
        self._pids = pids
        self._proc = proc
        self._cpus = self._read_cpus()
        self._threads = self._read_threads()
        # Where nothing polls, nothing is in its way.
        self._processes = running_processes(proc) if self._threads else {}
        self._began_s = time.monotonic()

    def ended(self) -> ScheduleRecord | None:
        """What was added since; None where nothing polls, or the kernel counts nothing."""
        watched_s = time.monotonic() - self._began_s
        now = self._read_threads()
        cpus = self._read_cpus()
        threads = tuple(
            self._thread_record(name, thread, now[thread].since(before), cpus.get(thread))
            for name, pid in self._pids.items()
            for thread, before in self._threads.items()
            if thread[0] == pid and thread in now
        )
        if not threads:
            return None
        others = self._others(running_processes(self._proc))
        return ScheduleRecord(watched_s=watched_s, threads=threads, others=tuple(others))

    def _read_cpus(self) -> dict[_Thread, int]:
        return {
            (pid, tid): cpu
            for pid in self._pids.values()
            for tid, cpu in polling_threads(pid, self._proc).items()
        }

    def _read_threads(self) -> dict[_Thread, ThreadSchedule]:
        read = {thread: read_thread(*thread, self._proc) for thread in self._cpus}
        return {thread: schedule for thread, schedule in read.items() if schedule is not None}

    def _thread_record(
        self, process: str, thread: _Thread, added: ThreadSchedule, last_cpu: int | None
    ) -> PollingThreadRecord:
        pid, tid = thread
        return PollingThreadRecord(
            process=process,
            pid=pid,
            tid=tid,
            cpu=self._cpus[thread],
            last_cpu=last_cpu,
            **added._asdict(),
        )

    def _others(self, now: Mapping[int, RunningProcess]) -> Sequence[OtherProcessRecord]:
        polled, polling = set(self._cpus.values()), set(self._pids.values())
        added = {
            pid: _added(process, self._processes.get(pid))
            for pid, process in now.items()
            if process.cpu in polled and pid not in polling
        }
        busy = [pid for pid, each in added.items() if each.run_ns >= _MIN_RUN_NS]
        busy.sort(key=lambda pid: -added[pid].run_ns)
        return [self._other(pid, added[pid]) for pid in busy[:_MAX_OTHERS]]

    def _other(self, pid: int, added: RunningProcess) -> OtherProcessRecord:
        return OtherProcessRecord(
            # The interpreter that runs us has a process name that is meaningless to users.
            comm=_OURS if pid == os.getpid() else added.comm,
            pid=pid,
            cpu=added.cpu,
            pinned=pinned_to(pid, proc=self._proc) == added.cpu,
            run_ns=added.run_ns,
            slices=added.slices,
        )


def _added(now: RunningProcess, before: RunningProcess | None) -> RunningProcess:
    """What a process ran since; all it ever did where it is new, or its pid is."""
    if before is None or now.run_ns < before.run_ns or now.slices < before.slices:
        return now
    run_ns, slices = now.run_ns - before.run_ns, now.slices - before.slices
    return now._replace(run_ns=run_ns, slices=slices)
