"""Where this process itself runs: off the CPUs whose loops must not be disturbed."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from plimsoll.host.cpus import allowed_cpus


def housekeeping_cpus(busy: Collection[int]) -> frozenset[int]:
    """The CPUs other than the `busy` ones; all of them where none would be left."""
    return (allowed_cpus() - frozenset(busy)) or allowed_cpus()


def leaves_no_cpu(busy: Collection[int]) -> bool:
    """Whether every CPU that this process may use is one of the `busy` ones."""
    return bool(busy) and allowed_cpus() <= frozenset(busy)


@contextmanager
def kept_off(busy: Collection[int]) -> Iterator[None]:
    """Keep this process off the `busy` CPUs, as far as there are others."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, housekeeping_cpus(busy))
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
