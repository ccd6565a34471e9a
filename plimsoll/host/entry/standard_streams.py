"""Standard output and error as a program needs them: there, and never a reason to fail.

A reader may go away, a terminal may know other characters than ours, and a descriptor may be
closed from the beginning.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import select
import sys
from typing import Any, TextIO

from plimsoll.errors import MachineError
from plimsoll.host.entry.utf8_mode import TERMINAL_VARIABLE

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
