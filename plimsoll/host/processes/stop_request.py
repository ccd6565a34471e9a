"""A signal that asks work to end in good order, and a second one that ends it at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass
class StopRequest:
    """`signal_name` is the signal that requested an end; None as long as none has."""

    signal_name: str | None = None


@contextmanager
def stop_requested() -> Iterator[StopRequest]:
    """For the length of a `with`, the first SIGINT, SIGTERM or SIGHUP is only noted.

    The next one does what it did before. Outside the main thread, where Python runs no
    handlers, nothing is done; ignored signals stay ignored.
    """
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    before = {each: old for each, old in handlers.items() if old != signal.SIG_IGN}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def note(number: int, _: FrameType | None) -> None:
        request.signal_name = signal.Signals(number).name
        restore()

    for number in before:
        signal.signal(number, note)
    try:
        yield request
    finally:
        restore()


# Work that a signal must not cut in two.
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

    before = {number: signal.signal(number, hold) for number in _STOPPING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for held_number in held:
            signal.raise_signal(held_number)
