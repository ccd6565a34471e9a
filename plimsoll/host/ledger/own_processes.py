"""Plimsoll's own processes on this host: by pid and by what their run's ledger says of them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from plimsoll.host.ledger.janitor import JANITOR
from plimsoll.host.ledger.ledger import LEDGER_MARK, Ledger
from plimsoll.host.processes.schedule_stats import status_field

COMMAND = "plimsoll"
OBSERVER = "observer"
_PROC = Path("/proc")


def own_processes(ledger: Ledger) -> dict[int, str]:
    """Names by pid: this process, its janitor and its observer."""
    noted = ledger.record.processes
    helpers = {each.identity.pid: each.name for each in noted if each.name in (JANITOR, OBSERVER)}
    return {os.getpid(): COMMAND, **helpers}


def own_processes_on(cpus: Collection[int], ledger: Ledger) -> dict[int, str]:
    """Those of them that may run on one of the CPUs."""
    return {pid: name for pid, name in own_processes(ledger).items() if _may_run(pid, cpus)}


def _may_run(pid: int, cpus: Collection[int]) -> bool:
    try:
        return not os.sched_getaffinity(pid).isdisjoint(cpus)
    except ProcessLookupError:
        return False


@dataclass(frozen=True)
class StartedByRun:
    """What a run started, so that its own threads are known by their ids and never by name.

    `own` are the processes of Plimsoll itself, `others` those that the run started to be measured
    or to disturb: DUTs and neighbours. What either starts belongs with it. `mark` is the
    assignment in the environment of all that the run started; it finds those that have outlived
    their parent.
    """

    own: frozenset[int] = frozenset()
    others: frozenset[int] = frozenset()
    mark: str | None = None

    @classmethod
    def of(cls, ledger: Ledger, generator_pid: int | None) -> StartedByRun:
        """As the ledger has it now; the generator's process is Plimsoll's own. MachineError."""
        own = {*own_processes(ledger), *(() if generator_pid is None else (generator_pid,))}
        noted = {each.identity.pid for each in ledger.record.processes}
        return cls(frozenset(own), frozenset(noted - own), f"{LEDGER_MARK}={ledger.directory}")

    def own_threads(self, threads: Iterable[int], proc: Path = _PROC) -> frozenset[int]:
        """Those of the threads that are Plimsoll's own, among the ones that still live."""
        return frozenset(thread for thread in threads if self._has(thread, proc))

    def _has(self, thread: int, proc: Path) -> bool:
        process = pid = _related(thread, "Tgid", proc)
        while pid is not None and pid > 1:
            if pid in self.own:
                return True
            if pid in self.others:
                return False
            pid = _related(pid, "PPid", proc)
        return process is not None and self._is_marked(process, proc)

    def _is_marked(self, pid: int, proc: Path) -> bool:
        try:
            environment = (proc / str(pid) / "environ").read_bytes()
        except OSError:
            return False
        return self.mark is not None and self.mark.encode() in environment.split(b"\0")


def _related(thread: int, field: str, proc: Path) -> int | None:
    """The process that /proc/ID/status names in this field; None where the thread has ended."""
    try:
        text = (proc / str(thread) / "status").read_text(errors="replace")
    except OSError:
        return None
    value = status_field(text, field)
    return int(value) if value is not None and value.isdecimal() else None
