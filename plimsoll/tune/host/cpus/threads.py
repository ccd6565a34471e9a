"""Processes and threads of a host, as procfs tells them: name, policy, priority, CPUs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from plimsoll.errors import InputError
from plimsoll.host.cpus import parse_cpu_list
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import CannotRead, Unread

PROCESS_READS = ("/proc/[0-9]*/stat",)
THREAD_READS = (
    *PROCESS_READS,
    "/proc/[0-9]*/task/[0-9]*/stat",
    "/proc/[0-9]*/task/[0-9]*/status",
)
# TASK_COMM_LEN of linux/sched.h, without the closing zero.
LONGEST_COMM = 15

Policy = Literal["other", "fifo", "rr", "batch", "idle", "deadline", "ext"]

# linux/sched.h, SCHED_*.
_POLICIES: dict[int, Policy] = {
    0: "other",
    1: "fifo",
    2: "rr",
    3: "batch",
    5: "idle",
    6: "deadline",
    7: "ext",
}
_PF_KTHREAD = 0x00200000
_KTHREADD = "/proc/2/stat"
_ALLOWED = re.compile(r"^Cpus_allowed_list:\s*(\S+)$", re.MULTILINE)
# The fields after the name, counted from the state, field 3 of proc_pid_stat(5).
_FLAGS, _RT_PRIORITY, _POLICY = 9 - 3, 40 - 3, 41 - 3


@dataclass(frozen=True, slots=True)
class Thread:
    """`pid` is the process it belongs to. `priority` is 1-99 for fifo and rr, else 0.

    `kernel`: it is one of the kernel's own.
    """

    pid: int
    tid: int
    comm: str
    kernel: bool
    policy: Policy
    priority: int

    @property
    def realtime(self) -> bool:
        """Whether it runs before every thread of ordinary priority."""
        return self.policy in ("fifo", "rr", "deadline")


def read_processes(view: HostView) -> tuple[Thread, ...]:
    """The first thread of each process. Raises CannotRead where not all can be seen."""
    first = view.need(_KTHREADD)
    if "(kthreadd)" not in first:
        # In a PID namespace of its own process 2 is another, and the host's are hidden.
        reason = "it is not kthreadd: the processes are those of a container"
        raise CannotRead(Unread(_KTHREADD, "unreadable", reason))
    return tuple(_threads(view, ((pid, pid) for pid in _numbers(view, "/proc")), "/proc/{pid}"))


def read_threads(view: HostView, pid: int) -> tuple[Thread, ...]:
    """The threads of a process; none where it has ended."""
    tids = ((pid, tid) for tid in _numbers(view, f"/proc/{pid}/task"))
    return tuple(_threads(view, tids, "/proc/{pid}/task/{tid}"))


def allowed_cpus(view: HostView, thread: Thread) -> frozenset[int]:
    """The CPUs that a thread may run on; none where it has ended. Raises CannotRead."""
    path = f"/proc/{thread.pid}/task/{thread.tid}/status"
    found = view.file(path)
    if isinstance(found, Unread):
        if found.cause == "not-captured":
            raise CannotRead(found)
        return frozenset()
    listed = _ALLOWED.search(found)
    try:
        return frozenset(parse_cpu_list(listed[1])) if listed else frozenset()
    except InputError as error:
        raise CannotRead(Unread(path, "unreadable", error.message)) from None


def _threads(view: HostView, ids: Iterator[tuple[int, int]], form: str) -> Iterator[Thread]:
    for pid, tid in ids:
        # Threads end while they are read.
        text = view.read(f"{form.format(pid=pid, tid=tid)}/stat")
        if text is not None and (thread := _parse(pid, tid, text)) is not None:
            yield thread


def _numbers(view: HostView, path: str) -> Iterator[int]:
    return (int(name) for name in view.listing(path) or () if name.isascii() and name.isdigit())


def _parse(pid: int, tid: int, text: str) -> Thread | None:
    """A stat file; a name may hold blanks and brackets, so that the last ")" ends it."""
    head, bracket, tail = text.rpartition(")")
    fields = tail.split()
    if not bracket or len(fields) <= _POLICY:
        return None
    try:
        flags, priority, policy = (int(fields[n]) for n in (_FLAGS, _RT_PRIORITY, _POLICY))
    except ValueError:
        return None
    return Thread(
        pid=pid,
        tid=tid,
        comm=head.partition("(")[2],
        kernel=bool(flags & _PF_KTHREAD),
        policy=_POLICIES.get(policy, "other"),
        priority=priority,
    )
