"""Where Plimsoll itself runs: off the CPUs whose loops must not be disturbed."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager

from plimsoll.host.cpus import allowed_cpus


def housekeeping_cpus(busy: Collection[int], shared: Collection[int] = ()) -> frozenset[int]:
    """The CPUs other than the `busy` ones; where none is left the `shared` ones of them, or all."""
    allowed = allowed_cpus()
    return (allowed - frozenset(busy)) or (allowed & frozenset(shared)) or allowed


def leaves_no_cpu(busy: Collection[int]) -> bool:
    """Whether every CPU that this process may use is one of the `busy` ones."""
    return bool(busy) and allowed_cpus() <= frozenset(busy)


@contextmanager
def kept_on(cpus: Collection[int]) -> Iterator[None]:
    """Keep this process on these CPUs, and let it go back at the end."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def kept_off(busy: Collection[int]) -> AbstractContextManager[None]:
    """Keep this process off the `busy` CPUs, as far as there are others."""
    return kept_on(housekeeping_cpus(busy))
