"""Signal handlers, as they were before what sets its own."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

_NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def kept_handlers() -> Iterator[None]:
    """A command sets its own, which would take an end of the tests for one of its own."""
    before = {number: signal.getsignal(number) for number in _NUMBERS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
