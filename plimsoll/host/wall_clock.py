"""The wall clock held against the clock that is never set."""

from __future__ import annotations

import time

# Each try takes a fraction of a microsecond. A starved process may be away between two readings,
# for milliseconds, but hardly so every time.
_TRIES = 20


def wall_minus_monotonic_ns() -> int:
    """By how much the wall clock is ahead: from the readings that lay closest together."""
    _, difference_ns = min(_reading() for _ in range(_TRIES))
    return difference_ns


def _reading() -> tuple[int, int]:
    """How long it took, and the difference, as of its middle."""
    before_ns = time.monotonic_ns()
    wall_ns = time.time_ns()
    width_ns = time.monotonic_ns() - before_ns
    return width_ns, wall_ns - before_ns - width_ns // 2
