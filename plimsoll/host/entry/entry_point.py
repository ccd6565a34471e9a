"""Where each program of Plimsoll begins and ends: what no one caught is caught here.

Every program gives its work to `enter`, and imports it there: an import may fail, too.

Standard output and error as a program needs them: there, and never a reason to fail. A reader may
go away, a terminal may know other characters than ours, and a descriptor may be closed from the
beginning.

A program in a locale of another encoding goes on in Python's UTF-8 mode. Files, paths, and what
other programs say are UTF-8 wherever the user's terminal is not: a path that Python decodes by
KOI8-R is another one to DuckDB.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import locale
import os
import select
import signal
import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, NoReturn, TextIO

from plimsoll.errors import INTERNAL_FAULT, Interrupted, MachineError
from plimsoll.host.entry.uncaught import tell_uncaught

_MODE = "PYTHONUTF8"
# What the terminal takes, for the program that goes on.
TERMINAL_VARIABLE = "PLIMSOLL_TERMINAL_ENCODING"


def continue_in_utf8_mode() -> None:
    """Begin this very program anew in that mode, where it is neither on nor chosen by the user."""
    if _MODE in os.environ or sys.flags.utf8_mode or sys.flags.ignore_environment:
        return
    if codecs.lookup(locale.getencoding()).name == "utf-8":
        return
    terminal = sys.stdout.encoding if sys.stdout is not None else ""
    changed = {**os.environ, _MODE: "1", TERMINAL_VARIABLE: terminal}
    # What cannot be started anew goes on as it is.
    with contextlib.suppress(OSError):
        os.execve(sys.executable, sys.orig_argv, changed)  # noqa: S606 - no shell


_ESCAPES = "plimsoll-escapes"


def open_standard_streams() -> None:
    """Put streams of our own in the place of Python's.

    Where no one reads them any more, what is written is dropped, and the program ends as it
    would have ended; other errors, such as a full disk, are raised for standard output alone:
    what is said on standard error is never worth more than what is done. Characters that an
    encoding does not have are written as JSON writes them.
    """
    codecs.register_error(_ESCAPES, _escaped)
    _occupy_closed_descriptors()
    # Children have terminals of their own.
    encoding = os.environ.pop(TERMINAL_VARIABLE, None)
    sys.stdout = _opened(sys.stdout, 1, encoding, courtesy=False)
    sys.stderr = _opened(sys.stderr, 2, encoding, courtesy=True)


class Outlet(io.FileIO):
    """A descriptor that takes all it is given, or drops it where no one reads any more."""

    def __init__(self, descriptor: int, *, courtesy: bool) -> None:
        """`courtesy`: what is written may be dropped for any reason."""
        super().__init__(descriptor, "w", closefd=False)
        self._courtesy = courtesy
        self.gone = False

    def write(self, block: Any, /) -> int:
        """All of it. Raises MachineError."""
        rest = memoryview(block).cast("B")
        written = len(rest)
        while rest and not self.gone:
            try:
                taken = super().write(rest)
            except BrokenPipeError:
                self._give_up()
            except OSError as error:
                # Else Python says at its end that it could not flush it, and exits with 120.
                self._give_up()
                if not self._courtesy:
                    raise _unwritten(error) from error
            else:
                # None: another process has made the pipe or terminal a non-blocking one.
                rest = self._when_ready(rest) if taken is None else rest[taken:]
        return written

    def _when_ready(self, rest: memoryview) -> memoryview:
        poll = select.poll()
        poll.register(self.fileno(), select.POLLOUT)
        poll.poll()
        return rest

    def _give_up(self) -> None:
        # Children that inherit it are to write there as little.
        self.gone = True
        with contextlib.suppress(OSError):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self.fileno())
            os.close(null)


def _unwritten(error: OSError) -> MachineError:
    return MachineError(
        f"cannot be written: {error.strerror}",
        where="standard output",
        remedy="make room where it goes, or name another place",
    )


def stdout_is_gone() -> bool:
    """Whether the reader of standard output has gone away, as far as writing has shown."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return isinstance(raw, Outlet) and raw.gone


def _occupy_closed_descriptors() -> None:
    """Else the next file that is opened is where output goes: the journal, say."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest one that is free, which is this one.
            os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(descriptor, True)


def _opened(
    stream: TextIO | None, descriptor: int, encoding: str | None, *, courtesy: bool
) -> TextIO:
    return io.TextIOWrapper(
        io.BufferedWriter(Outlet(descriptor, courtesy=courtesy)),
        encoding=encoding or getattr(stream, "encoding", None) or "utf-8",
        errors=_ESCAPES,
        line_buffering=courtesy or getattr(stream, "line_buffering", False),
        write_through=getattr(stream, "write_through", False),
    )


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    codes = (units[place : place + 2].hex() for place in range(0, len(units), 2))
    return "".join(f"\\u{code}" for code in codes), error.end


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
