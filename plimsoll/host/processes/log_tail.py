"""The end of a program's log, for messages about why it ended."""

from __future__ import annotations

import os
import re
from collections import deque
from pathlib import Path

_TAIL_BYTES = 16384
# Commands to a terminal (ECMA-48), and other control characters but the ends of lines.
_CONTROLS = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])|[\x00-\x08\x0e-\x1f\x7f-\x9f]")


def log_tail(log: Path, lines: int = 12) -> tuple[str, ...]:
    """The last non-empty lines of a log, however long it is, without commands to a terminal."""
    with log.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
        text = _CONTROLS.sub("", file.read().decode(errors="replace"))
    return tuple(deque((line for line in text.splitlines() if line.strip()), maxlen=lines))


def log_ending(log: Path) -> str:
    """The last lines as the end of a sentence, each on a line of its own."""
    try:
        tail = "".join(f"\n    {line}" for line in log_tail(log))
    except OSError as error:
        return f"; its log cannot be read: {error.strerror or error}"
    return f"; its log ends with:{tail}" if tail else "; it logged nothing"
