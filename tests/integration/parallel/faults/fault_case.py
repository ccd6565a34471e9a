"""Which faults a run is put through: each kind of call on each kind of object, as it was seen."""

from __future__ import annotations

import errno
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tests.integration.parallel.faults.nursery import MARK

MAX_CASES = 300
_CALL = re.compile(r"(\w+)\((.*)")
# By the manual they cannot fail on what a program gives them, or its own end is what they are;
# a futex that fails is glibc's own fault, by which it aborts. The kernel's brk has no error: it
# returns the old break, where strace returns a pointer that is none.
_CANNOT_FAIL = frozenset(
    {
        *("exit", "exit_group", "restart_syscall", "futex", "set_robust_list", "rseq"),
        *("getpid", "getppid", "gettid", "getuid", "geteuid", "getgid", "getegid"),
        *("rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "sched_yield"),
        *("umask", "brk", "munmap", "madvise", "clock_gettime", "gettimeofday"),
    }
)
# What each may fail with on a machine that is short of something, or broken; two of each.
_ERRORS: dict[str, tuple[str, str]] = {
    "openat": ("EMFILE", "EACCES"),
    "flock": ("ENOLCK", "EIO"),
    "write": ("ENOSPC", "EIO"),
    "pwrite64": ("ENOSPC", "EIO"),
    "fsync": ("EIO", "ENOSPC"),
    "ftruncate": ("EIO", "ENOSPC"),
    "rename": ("EIO", "EXDEV"),
    "mkdir": ("ENOSPC", "EACCES"),
    "unlink": ("EPERM", "EIO"),
    "socket": ("EMFILE", "EAFNOSUPPORT"),
    "connect": ("ECONNREFUSED", "ETIMEDOUT"),
    "mmap": ("ENOMEM", "EAGAIN"),
    "mprotect": ("ENOMEM", "EACCES"),
    "clone3": ("EAGAIN", "ENOMEM"),
    "clone": ("EAGAIN", "ENOMEM"),
    "vfork": ("EAGAIN", "ENOMEM"),
    "readlink": ("ENOENT", "EACCES"),
    "access": ("ENOENT", "EACCES"),
}
_OTHER_ERRORS = ("EIO", "ENOMEM")
# In this order: the first whose words a call has.
_KINDS = {
    "journal": ("journal.jsonl",),
    "lock": ("/lock>", '/lock"', "flock("),
    "Parquet": (".parquet",),
    "tracefs": ("/tracing",),
    "cgroup": ("/cgroup",),
    "pipe": ("pipe:[",),
    "socket": ("socket:[", "socket(", "AF_UNIX", "AF_INET"),
    "proc": ('"/proc', "</proc"),
    "sys": ('"/sys', "</sys"),
    "run": ("/runs", '"runs'),
    "state": ("/state",),
    "code": (".py", ".so", ".j2", ".sql", "/plimsoll/", "/site-packages", "/lib/"),
    "file": ('"/', "</"),
}


class FaultCase(NamedTuple):
    """The call of that name which comes at this place fails with this error."""

    call: str
    kind: str
    place: int
    error: str

    @property
    def injection(self) -> str:
        """For strace."""
        return f"inject={self.call}:error={self.error}:when={self.place}"

    def __str__(self) -> str:
        return f"{self.call} on {self.kind}, call {self.place}: {self.error}"


def cases_of(trace: Iterable[str], seed: int, most: int = MAX_CASES) -> list[FaultCase]:
    """For each pair the first call and one later one, with two errors each."""
    chance = random.Random(seed)  # noqa: S311 - a choice of tests
    found = [case for places in _places(trace) for case in _of_pair(*places, chance)]
    assert {getattr(errno, case.error, None) for case in found}.isdisjoint({None})
    return found if len(found) <= most else sorted(chance.sample(found, most))


def kind_of(call: str) -> str:
    """The kind of object that a line of a trace is about."""
    kinds = (kind for kind, words in _KINDS.items() if any(word in call for word in words))
    return next(kinds, "none")


def _places(trace: Iterable[str]) -> Iterator[tuple[str, str, list[int]]]:
    """Where each pair's calls come, counted among all calls of the name."""
    counts: dict[str, int] = defaultdict(int)
    places: dict[tuple[str, str], list[int]] = defaultdict(list)
    begun = False
    for line in trace:
        if (found := _CALL.match(line)) is None:
            continue
        name = found[1]
        counts[name] += 1
        if begun and name not in _CANNOT_FAIL:
            places[name, kind_of(line)].append(counts[name])
        begun = begun or MARK in line
    for (name, kind), numbers in sorted(places.items()):
        yield name, kind, numbers


def _of_pair(
    name: str, kind: str, numbers: list[int], chance: random.Random
) -> Iterator[FaultCase]:
    first, *later = numbers
    chosen = [first, chance.choice(later)] if later else [first]
    for place in chosen:
        for error in _ERRORS.get(name, _OTHER_ERRORS):
            yield FaultCase(name, kind, place, error)
