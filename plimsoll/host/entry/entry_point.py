"""Where each program of Plimsoll begins and ends: what no one caught is caught here.

Every program gives its work to `enter`, and imports it there: an import may fail, too.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, NoReturn

from plimsoll.errors import INTERNAL_FAULT, Interrupted
from plimsoll.host.entry.standard_streams import open_standard_streams
from plimsoll.host.entry.uncaught import tell_uncaught
from plimsoll.host.entry.utf8_mode import continue_in_utf8_mode

# By these a program says that all went well, or that the DUT failed: neither is known after
# a fault in one of its threads.
_ANSWERS = (0, 1)
_SOON_S = 0.01


def enter(program: Callable[[], int | None]) -> NoReturn:
    """Run `program` and exit with its status, 0 for None; with that of an error it let through.

    Exceptions in threads count as well. Whatever comes after this ends likewise: at once, and
    with a status that is not 1.
    """
    sys.excepthook = _end_at_once
    sys.unraisablehook = _take_again
    continue_in_utf8_mode()
    open_standard_streams()
    faults = _ThreadFaults()
    status = _status_of(program)
    # Not at the interpreter's end, where nothing is left that could say what went wrong.
    unwritten = _status_of(sys.stdout.flush)
    if faults.happened and status in _ANSWERS:
        status = INTERNAL_FAULT
    _let_signals_kill()
    sys.exit(status or unwritten)


def _status_of(program: Callable[[], int | None]) -> int:
    try:
        return program() or 0
    except SystemExit as end:
        return _exit_status(end)
    except BaseException as error:
        return tell_uncaught(error)


def _exit_status(end: SystemExit) -> int:
    if end.code is None or isinstance(end.code, int):
        return end.code or 0
    # Python itself would print it and exit with 1.
    return tell_uncaught(end)


class _ThreadFaults:
    """Tells what no one caught in a thread; whether there was any decides the exit status."""

    def __init__(self) -> None:
        self.happened = False
        threading.excepthook = self._tell

    def _tell(self, raised: threading.ExceptHookArgs) -> None:
        if raised.exc_value is None or isinstance(raised.exc_value, SystemExit):
            return
        self.happened = True
        tell_uncaught(raised.exc_value, raised.thread.name if raised.thread else "")


def _end_at_once(
    _kind: type[BaseException], error: BaseException, _traceback: TracebackType | None
) -> None:
    os._exit(tell_uncaught(error))


def _take_again(unraisable: Any) -> None:
    """Have a signal again that came where Python ignores exceptions: as an object was deleted."""
    error = unraisable.exc_value
    if not isinstance(error, Interrupted | KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
        return
    number = signal.Signals.__members__.get(str(error), signal.SIGINT)
    again = threading.Timer(_SOON_S, os.kill, (os.getpid(), number))
    again.daemon = True
    again.start()


def _let_signals_kill() -> None:
    """From here on there is nothing to take down: a signal need not wait for threads."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
