"""Which files go between the volume of a run's pod and the run directory here."""

from __future__ import annotations

import re

from plimsoll.record.index.run_files import is_run_file

# What the run said, next to its directory; and what each side tells the other by a file's being
# there: that it may begin, that it is to end in good order, that it has ended (with its status).
OUTPUT = "output.log"
STATUS = "status.json"
BEGIN, STOP = "begin", "stop"
MARKS = (BEGIN, STOP)
# Written at the end alone, so that what a receiver has of them stays as it is.
GROWING = (".jsonl", ".hlog", ".log")
_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}", re.ASCII)


def is_carried(name: str) -> bool:
    """Whether a path below the volume, with slashes, is one of a run's own files."""
    run, slash, rest = name.partition("/")
    if not slash:
        return name in (OUTPUT, STATUS)
    return _RUN.fullmatch(run) is not None and is_run_file(rest)
