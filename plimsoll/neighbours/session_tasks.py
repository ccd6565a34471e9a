"""The processes and threads of a session, by what the kernel says of each process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")
# Of /proc/PID/stat behind the name in parentheses: state, ppid, pgrp, session.
_STATE, _SESSION = 0, 3


def session_processes(leader: int, proc: Path = _PROC) -> tuple[int, ...]:
    """The processes in the session of `leader` that have not ended, itself among them."""
    return tuple(pid for pid in _pids(proc) if _is_in(pid, leader, proc))


def session_tasks(leader: int, proc: Path = _PROC) -> tuple[int, ...]:
    """All threads of those processes, by id."""
    return tuple(
        tid for pid in session_processes(leader, proc) for tid in _pids(proc / str(pid) / "task")
    )


def _pids(folder: Path) -> Iterator[int]:
    try:
        names = os.listdir(folder)
    except OSError:
        return
    yield from (int(name) for name in names if name.isdigit())


def _is_in(pid: int, leader: int, proc: Path) -> bool:
    try:
        text = (proc / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return False
    fields = text.rpartition(")")[2].split()
    return int(fields[_SESSION]) == leader and fields[_STATE] not in "ZX"
