"""Trace instances: private sets of kernel ring buffers, directories in tracefs's instances/."""

from __future__ import annotations

import errno
from pathlib import Path

# What marks an instance as ours, whatever a ledger says.
TRACE_INSTANCE_PREFIX = "plimsoll-"


def remove_trace_instance(directory: Path) -> bool:
    """Stop and remove an instance with its buffers and events; False when it is gone already.

    Raises OSError for a directory that is not an instance of ours (EINVAL), and while a process
    still has one of its files open (EBUSY).
    """
    name = directory.name
    if directory.parent.name != "instances" or not name.startswith(TRACE_INSTANCE_PREFIX):
        raise OSError(errno.EINVAL, "not a trace instance of ours", str(directory))
    try:
        (directory / "tracing_on").write_text("0")
        directory.rmdir()
    except FileNotFoundError:
        return False
    return True
