"""Whether this process has the host's own process ids and clocks, by which its kernel traces."""

from __future__ import annotations

from pathlib import Path

_OWN = Path("/proc/self/ns")
# PROC_PID_INIT_INO and PROC_TIME_INIT_INO of include/linux/proc_ns.h: those of the namespaces that
# the kernel itself begins with.
_PROCESS_IDS = 0xEFFFFFFC
_CLOCKS = 0xEFFFFFFA


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
