"""Work that a signal must not cut in two."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold SIGINT, SIGTERM and SIGHUP back until the block has ended, then let them take effect.

    By handlers of our own, not by a signal mask: a mask is a thread's, and libraries
    have threads. Outside the main thread, where Python runs no handlers, nothing is done.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []

    def hold(number: int, _: FrameType | None) -> None:
        held.append(number)

    before = {number: signal.signal(number, hold) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for held_number in held:
            signal.raise_signal(held_number)
