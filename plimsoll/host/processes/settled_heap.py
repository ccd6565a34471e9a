"""Keeping Python's garbage collector from pausing this process while it must be quick."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def settled_heap() -> Iterator[None]:
    """Leave whatever is held already out of collections until the end of the block.

    The thousands of buckets of each interval set off collections of all generations, and
    the oldest holds every library's classes and schemas: going through those took 65 ms,
    next to polling loops, every few seconds. What the block makes is collected as ever.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
