"""What is said of an error that no one caught, and with which status the program ends by it."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path

from plimsoll.errors import INTERNAL_FAULT, SIGNALLED, Interrupted, MachineError, PlimsollError
from plimsoll.version import VERSION

# Set to anything but nothing, or by `plimsoll --traceback`, it shows where an error came from.
TRACEBACK_VARIABLE = "PLIMSOLL_TRACEBACK"
# Hidden, as what is not is a ledger.
TRACEBACK_FILE = ".last-traceback.txt"
_PACKAGE = Path(__file__).parents[2]
# What the machine is short of, does not do or does not allow; else it may be a mistake of ours.
_MACHINE = (
    *(errno.EACCES, errno.EPERM),
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO),
    *(errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOLCK, errno.ENOSYS),
)
_FROM_THE_KERNEL = ("/proc/", "/sys/", "/dev/")
_NO_THREAD = "can't start new thread"
_NO_MEMORY = "the memory is used up"


@dataclass(frozen=True, slots=True)
class _Ending:
    message: str
    remedy: str
    status: int


def tell_uncaught(error: BaseException, thread: str = "") -> int:
    """Say on standard error what ended the program, or its `thread`; returns the exit status.

    Nothing comes out of here, whatever happens on the way.
    """
    try:
        return _tell(error, thread)
    except BaseException:
        with contextlib.suppress(BaseException):
            _write(f"error: a fault in Plimsoll {VERSION}: {type(error).__name__}")
        return INTERNAL_FAULT


def show_traceback(error: BaseException) -> None:
    """Write where an error came from to standard error, if that was requested."""
    if os.environ.get(TRACEBACK_VARIABLE):
        _write("".join(traceback.format_exception(error)).rstrip())


def _tell(error: BaseException, thread: str) -> int:
    if isinstance(error, Interrupted | KeyboardInterrupt):
        _write("interrupted")
        return SIGNALLED
    ending = _ending(error)
    place = f"in the thread {thread}: " if thread else ""
    _write(f"error: {place}{ending.message}")
    for note in getattr(error, "__notes__", ()):
        _write(note)
    show_traceback(error)
    _write(f"remedy: {ending.remedy or _how_to_report(error)}")
    return ending.status


def _ending(error: BaseException) -> _Ending:
    """An empty remedy is to report it."""
    if isinstance(error, PlimsollError):
        place = f"{error.where}: " if error.where else ""
        return _Ending(f"{place}{error.message}", error.remedy, error.exit_code)
    if isinstance(error, MemoryError):
        return _machine(_NO_MEMORY, "give it more memory, or end what else uses it")
    if isinstance(error, RuntimeError) and _NO_THREAD in str(error):
        return _machine("no thread can be started", "raise the limit of processes (ulimit -u)")
    if isinstance(error, OSError) and _is_the_machines(error):
        place = f"{error.filename}: " if error.filename is not None else ""
        where = f" ({_where(error)})" if not place and _where(error) else ""
        said = f"{place}{error.strerror or error}{where}"
        return _machine(said, "see to what the machine refuses, and give the command again")
    return _Ending(f"a fault in Plimsoll {VERSION}: {_what(error)}", "", INTERNAL_FAULT)


def _machine(message: str, remedy: str) -> _Ending:
    return _Ending(message, remedy, MachineError.exit_code)


def _is_the_machines(error: OSError) -> bool:
    named = error.filename
    return error.errno in _MACHINE or str(named or "").startswith(_FROM_THE_KERNEL)


def _what(error: BaseException) -> str:
    said = str(error).strip().splitlines()
    what = f"{type(error).__name__}: {said[0]}" if said else type(error).__name__
    where = _where(error)
    return f"{what} ({where})" if where else what


def _where(error: BaseException) -> str:
    """The line of ours that the error came through last."""
    ours = [
        f"plimsoll/{Path(each.filename).relative_to(_PACKAGE)}:{each.lineno}"
        for each in traceback.extract_tb(error.__traceback__)
        if Path(each.filename).is_relative_to(_PACKAGE)
    ]
    return ours[-1] if ours else ""


def _how_to_report(error: BaseException) -> str:
    where = "the traceback above"
    if not os.environ.get(TRACEBACK_VARIABLE):
        kept = _kept_traceback(error)
        where = f"the traceback, which is in {kept}" if kept else _shown_next_time()
    return f"report this sentence, the command and {where}"


def _shown_next_time() -> str:
    return f"the traceback, which {TRACEBACK_VARIABLE}=1 shows"


def _kept_traceback(error: BaseException) -> Path | None:
    """The file with it, which the next one replaces; None where it cannot be written."""
    # Below `enter` nothing of Plimsoll's need be sound but what tells of it.
    with contextlib.suppress(Exception):
        from plimsoll.host.state_root import state_root  # noqa: PLC0415

        path = state_root() / TRACEBACK_FILE
        text = f"plimsoll {VERSION}\n{''.join(traceback.format_exception(error))}"
        unfinished = path.with_name(f"{TRACEBACK_FILE}.{os.getpid()}")
        unfinished.write_text(text, encoding="utf-8", errors="backslashreplace")
        unfinished.replace(path)
        return path
    return None


def _write(text: str) -> None:
    """To standard error, with whatever might drive a terminal written out."""
    lines = text.expandtabs().split("\n")
    shown = "\n".join("".join(map(_printable, line)) for line in lines)
    sys.stderr.write(f"{shown}\n")
    sys.stderr.flush()


def _printable(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")
