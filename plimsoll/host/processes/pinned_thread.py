"""The thread of a process that is pinned to one CPU."""

from __future__ import annotations

import os
from pathlib import Path

_PROC = Path("/proc")


def pinned_thread(pid: int, cpu: int, named: str) -> int | None:
    """The thread of `pid` that may run on `cpu` alone and has `named` in its name.

    None where there is none. The main thread is never meant.
    """
    try:
        threads = sorted(int(each.name) for each in (_PROC / str(pid) / "task").iterdir())
    except OSError:
        return None
    return next((tid for tid in threads if tid != pid and _fits(pid, tid, cpu, named)), None)


def _fits(pid: int, tid: int, cpu: int, named: str) -> bool:
    try:
        name = (_PROC / str(pid) / "task" / str(tid) / "comm").read_text()
        return named in name and os.sched_getaffinity(tid) == {cpu}
    except OSError:
        return False
