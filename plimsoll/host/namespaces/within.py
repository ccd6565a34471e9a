"""Doing something within a network namespace: what is opened there stays there."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from plimsoll.errors import MachineError

T = TypeVar("T")
_CLONE_NEWNET = 0x40000000
_OWN = Path("/proc/self/ns")
# PROC_PID_INIT_INO and PROC_TIME_INIT_INO of include/linux/proc_ns.h: those of the namespaces that
# the kernel itself begins with.
_PROCESS_IDS = 0xEFFFFFFC
_CLOCKS = 0xEFFFFFFA


def run_within(path: Path, work: Callable[[], T]) -> T:
    """What `work` returns, run by a thread in the namespace at `path` (setns(2)).

    A thread of its own, because a namespace is a thread's: this one never leaves its own, and
    the other ends with the work. Sockets, and files of /proc/thread-self/net, remain those of
    the namespace. Raises MachineError where it cannot be entered, and what `work` raises.
    """
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(_enter_and, path, work).result()


def _enter_and(path: Path, work: Callable[[], T]) -> T:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise _refused(path, error.strerror or str(error)) from error
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.setns(descriptor, _CLONE_NEWNET) != 0:
            raise _refused(path, os.strerror(ctypes.get_errno()))
    finally:
        os.close(descriptor)
    return work()


def _refused(path: Path, reason: str) -> MachineError:
    return MachineError(
        f"cannot enter the network namespace {path.name}: {reason}",
        where="lab",
        remedy="run as root, or with CAP_SYS_ADMIN",
    )


# Whether this process has the host's own process ids and clocks, by which its kernel traces.
def has_host_process_ids(namespaces: Path = _OWN) -> bool:
    """Whether ids in /proc are those of the kernel; in a container they mostly are not."""
    return _is(namespaces / "pid", _PROCESS_IDS)


def has_host_clocks(namespaces: Path = _OWN) -> bool:
    """Whether CLOCK_MONOTONIC_RAW is the kernel's own, without a time namespace's offset."""
    return _is(namespaces / "time", _CLOCKS)


def _is(namespace: Path, number: int) -> bool:
    """A kernel that has no such namespaces, or does not show them, has none but its own."""
    try:
        return namespace.stat().st_ino == number
    except OSError:
        return True
