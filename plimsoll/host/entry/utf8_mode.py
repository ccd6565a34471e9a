"""A program in a locale of another encoding goes on in Python's UTF-8 mode.

Files, paths, and what other programs say are UTF-8 wherever the user's terminal is not: a path
that Python decodes by KOI8-R is another one to DuckDB.
"""

from __future__ import annotations

import codecs
import contextlib
import locale
import os
import sys

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
