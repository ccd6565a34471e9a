"""A signal that asks work to end in good order, and a second one that ends it at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


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
