"""The cgroup of a process, by which pods and services are told apart."""

from __future__ import annotations

from pathlib import Path

_PROC = Path("/proc")
# The line of the unified hierarchy (cgroup v2) in /proc/PID/cgroup.
_UNIFIED = "0::"


def cgroup_of(pid: int, proc: Path = _PROC) -> str | None:
    """Its path in the unified hierarchy; None where it has ended, or there is no such hierarchy."""
    try:
        text = (proc / str(pid) / "cgroup").read_text(errors="replace")
    except OSError:
        return None
    found = (line.removeprefix(_UNIFIED) for line in text.splitlines() if line.startswith(_UNIFIED))
    return next(found, None)
