"""Waiting for what another process brings about."""

from __future__ import annotations

import time
from collections.abc import Callable


def comes_true(
    condition: Callable[[], bool],
    timeout_s: float,
    *,
    every_s: float = 0.02,
    check: Callable[[], None] | None = None,
) -> bool:
    """Whether it is true within the timeout; looked at first at once, then every so often.

    `check` is called in between, and raises where it cannot come true any more.
    """
    deadline_s = time.monotonic() + timeout_s
    while not condition():
        if check is not None:
            check()
        if time.monotonic() > deadline_s:
            return False
        time.sleep(every_s)
    return True
