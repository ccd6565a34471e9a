"""Where Plimsoll's processes run, and before whom: CPUs of loops must not be disturbed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from plimsoll.host.cpus import allowed_cpus

_THREADS = Path("/proc/self/task")
_PROC = Path("/proc")


def housekeeping_cpus(busy: Collection[int], shared: Collection[int] = ()) -> frozenset[int]:
    """The CPUs other than the `busy` ones; where none is left the `shared` ones of them, or all."""
    allowed = allowed_cpus()
    return (allowed - frozenset(busy)) or (allowed & frozenset(shared)) or allowed


def leaves_no_cpu(busy: Collection[int]) -> bool:
    """Whether every CPU that this process may use is one of the `busy` ones."""
    return bool(busy) and allowed_cpus() <= frozenset(busy)


@contextmanager
def pinned_to(cpus: Collection[int]) -> Iterator[None]:
    """Keep all threads of this process on these CPUs, and let them go back at the end.

    One that is begun in between is kept there as well, and goes where the calling thread goes.
    """
    own, before = os.sched_getaffinity(0), dict(_affinities())
    for thread in before:
        _move(thread, cpus)
    try:
        yield
    finally:
        for thread, _ in _affinities():
            _move(thread, before.get(thread, own))


def pinned_off(busy: Collection[int]) -> AbstractContextManager[None]:
    """Keep this process off the `busy` CPUs, as far as there are others."""
    return pinned_to(housekeeping_cpus(busy))


def _affinities() -> Iterator[tuple[int, set[int]]]:
    for thread in _THREADS.iterdir():
        # One may end at any time.
        with suppress(ProcessLookupError):
            yield int(thread.name), os.sched_getaffinity(int(thread.name))


def _move(thread: int, cpus: Collection[int]) -> None:
    with suppress(ProcessLookupError):
        os.sched_setaffinity(thread, cpus)


# The thread of a process that is pinned to one CPU.
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


# An ordinary busy process still gets 1.1 % of the CPU, by the kernel's weights (88761 to 1024,
# sched_prio_to_weight), but no longer whole time slices in a row. At -15 it got 3.4 %, most of
# what a trial may lose. Real-time scheduling would starve the kernel's own threads.
_NICENESS = -20


# Of polling loops on CPUs on which other programs have to work as well, as clients of ours that
# keep time: at -20 a client that is busy for a fifth of a second needs ten. An ordinary program
# has 10 % of each CPU so, a slice of some 3 ms at a time.
SHARING = -10

# Of a server whose clients wait for it on CPUs that are polled: between the polling loops and
# ordinary programs. As one of these it would get the CPU some 260 ms after it asks
# (a slice of 3 ms by the weights above, seen with Linux 6.18).
_SERVER_NICENESS = -10


@contextmanager
def quick_to_answer() -> Iterator[None]:
    """Put this thread and those that it starts here before ordinary programs, if allowed.

    Where the kernel groups tasks by session, that counts only inside of the session.
    """
    before = os.getpriority(os.PRIO_PROCESS, 0)
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, min(before, _SERVER_NICENESS))
    try:
        yield
    finally:
        os.setpriority(os.PRIO_PROCESS, 0, before)


def raise_priority(session_leader: int, niceness: int = _NICENESS) -> bool:
    """Put all of a session's threads before ordinary programs; whether we were allowed to.

    Where the kernel groups tasks by session (autogroup), a niceness counts only inside
    the group, so the group gets it too.
    """
    with contextlib.suppress(OSError):
        (_PROC / str(session_leader) / "autogroup").write_text(str(niceness))
    try:
        os.setpriority(os.PRIO_PGRP, session_leader, niceness)
    except PermissionError:
        return False
    except ProcessLookupError:
        # It has ended already, which its waiter will notice.
        return False
    return True
