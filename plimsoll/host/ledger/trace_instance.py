"""Trace instances: private sets of kernel ring buffers, directories in tracefs's instances/."""

from __future__ import annotations

import errno
from pathlib import Path

from plimsoll.host.tracefs import find_tracefs

# What marks an instance as ours, whatever a ledger says.
TRACE_INSTANCE_PREFIX = "plimsoll-"


def trace_instance(name: str) -> Path:
    """The directory of an instance of ours, by this process's way to tracefs.

    Raises OSError for a name that is not one of ours (EINVAL), and where there is no tracefs.
    """
    if not name.startswith(TRACE_INSTANCE_PREFIX) or "/" in name:
        raise OSError(errno.EINVAL, "not a trace instance of ours", name)
    return find_tracefs() / "instances" / name


def remove_trace_instance(name: str) -> bool:
    """Stop and remove an instance with its buffers and events; False when it is gone already.

    Raises OSError as trace_instance() does, and while a process still has one of its files
    open (EBUSY).
    """
    directory = trace_instance(name)
    try:
        (directory / "tracing_on").write_text("0")
        directory.rmdir()
    except FileNotFoundError:
        return False
    return True
