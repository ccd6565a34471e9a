"""Processes by an identity that a recycled pid cannot fake, and how to end them."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")
# How long the kernel may take to tear down a killed process with gigabytes of hugepages.
_KILL_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A pid and its process's start, in clock ticks since boot (/proc/PID/stat field 22)."""

    pid: int
    start_ticks: int

    @property
    def alive(self) -> bool:
        """Whether this very process still runs, or holds memory; a mere zombie does not."""
        try:
            stat = _read_stat(self.pid)
        except ProcessLookupError:
            return False
        # A main thread is a zombie as soon as it has ended itself, while others live on.
        ended = stat.state in "ZX" and stat.threads <= 1
        return stat.start_ticks == self.start_ticks and not ended


def identify(pid: int) -> ProcessIdentity:
    """The identity of the process that has `pid` now. Raises ProcessLookupError if none has."""
    return ProcessIdentity(pid, _read_stat(pid).start_ticks)


def wait_for_end(process: ProcessIdentity, timeout_s: float | None = None) -> bool:
    """Sleep until the process, which need not be our child, has ended; False on timeout."""
    with _pidfd(process) as pidfd:
        if pidfd is None:
            return True
        poll = select.poll()
        poll.register(pidfd, select.POLLIN)
        return bool(poll.poll(None if timeout_s is None else timeout_s * 1000))


def end_process(process: ProcessIdentity, patience_s: float) -> bool:
    """Ask the process to end, kill it after `patience_s` (0: at once); True when it is gone."""
    if patience_s > 0:
        _send(process, signal.SIGTERM)
        if wait_for_end(process, patience_s):
            return True
    _send(process, signal.SIGKILL)
    return wait_for_end(process, _KILL_TIMEOUT_S)


def processes_with_environment(assignment: str) -> Iterator[ProcessIdentity]:
    """Every other process that was started with `NAME=value` in its environment.

    Finds what a starter that was killed had no time to write down. Processes of other
    users are passed over.
    """
    expected = assignment.encode()
    for entry in _PROC.iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            if expected in (entry / "environ").read_bytes().split(b"\0"):
                yield identify(int(entry.name))


class HugepageHolder(NamedTuple):
    """A process that has mapped hugepages, and the value of one variable of its environment.

    `setting` is None where it has none, or where another user may not read it.
    """

    pid: int
    comm: str
    mapped_kb: int
    setting: str | None


def hugepage_holders(variable: str) -> tuple[HugepageHolder, ...]:
    """Every process on this machine that holds hugepages."""
    found: list[HugepageHolder] = []
    for entry in _PROC.iterdir():
        if entry.name.isdigit() and (mapped_kb := _hugetlb_kb(int(entry.name))):
            with contextlib.suppress(OSError):
                comm = (entry / "comm").read_text(errors="replace").strip()
                setting = _setting(entry, variable)
                found.append(HugepageHolder(int(entry.name), comm, mapped_kb, setting))
    return tuple(found)


def _setting(process: Path, variable: str) -> str | None:
    with contextlib.suppress(OSError):
        for each in (process / "environ").read_bytes().split(b"\0"):
            name, _, value = each.partition(b"=")
            if name == variable.encode():
                return value.decode(errors="replace")
    return None


def _hugetlb_kb(pid: int) -> int:
    with contextlib.suppress(OSError):
        for line in (_PROC / str(pid) / "status").read_text(errors="replace").splitlines():
            if line.startswith("HugetlbPages:"):
                return int(line.split()[1])
    return 0


class _Stat(NamedTuple):
    """What /proc/PID/stat says, fields 3, 20 and 22."""

    state: str
    threads: int
    start_ticks: int


def _read_stat(pid: int) -> _Stat:
    try:
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError as error:
        raise ProcessLookupError(f"no process {pid}") from error
    # The second field is the command in parentheses and may itself hold blanks and ")".
    fields = text.rpartition(")")[2].split()
    return _Stat(fields[0], int(fields[17]), int(fields[19]))


@contextlib.contextmanager
def _pidfd(process: ProcessIdentity) -> Iterator[int | None]:
    """A descriptor of this very process, or None when it has ended."""
    try:
        pidfd = os.pidfd_open(process.pid)
    except ProcessLookupError:
        yield None
        return
    try:
        # The descriptor pins the process, so what is checked now stays true.
        yield pidfd if process.alive else None
    finally:
        os.close(pidfd)


def _send(process: ProcessIdentity, number: signal.Signals) -> None:
    with _pidfd(process) as pidfd:
        if pidfd is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(pidfd, number)


# The line of the unified hierarchy (cgroup v2) in /proc/PID/cgroup.
_UNIFIED = "0::"
# On a host with the hierarchies of v1 that of the CPU controller says more.
_CPU = re.compile(r"\d+:(?:[^:]*,)?cpu(?:,[^:]*)?:(.*)")


def cgroup_of(pid: int, proc: Path = _PROC) -> str | None:
    """Its path in the CPU controller's hierarchy of v1, where there is one, or the unified one.

    None where it has ended, or there is neither.
    """
    try:
        text = (proc / str(pid) / "cgroup").read_text(errors="replace")
    except OSError:
        return None
    of_cpu = next((match[1] for line in text.splitlines() if (match := _CPU.fullmatch(line))), None)
    if of_cpu is not None:
        return of_cpu
    found = (line.removeprefix(_UNIFIED) for line in text.splitlines() if line.startswith(_UNIFIED))
    return next(found, None)
