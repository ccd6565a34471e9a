"""The cgroup of a process, by which pods and services are distinguished."""

from __future__ import annotations

import re
from pathlib import Path

_PROC = Path("/proc")
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
