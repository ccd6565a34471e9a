"""The connection tracking of a network namespace: how many flows it takes, and what it refused."""

from __future__ import annotations

from pathlib import Path

# The file is the machine's: a namespace's own can be lower since Linux 6.14, and is not by itself.
CONNTRACK_MAX = Path("/proc/sys/net/netfilter/nf_conntrack_max")
# What the calling thread's namespace counts, for each CPU a line of hexadecimal numbers.
_COUNTS = Path("/proc/thread-self/net/stat/nf_conntrack")
# Packets that were dropped because there was no room for an entry of theirs.
_DROPPED = "drop"


def conntrack_max(path: Path = CONNTRACK_MAX) -> int | None:
    """The most entries that any namespace may have; None where conntrack is not loaded."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def dropped_for_room(path: Path = _COUNTS) -> int | None:
    """Packets that found no room in the table, of the calling thread's namespace, on all CPUs.

    None where the kernel does not say (CONFIG_NF_CONNTRACK_PROCFS).
    """
    try:
        names, *rows = (line.split() for line in path.read_text().splitlines())
    except (OSError, ValueError):
        return None
    if _DROPPED not in names:
        return None
    column = names.index(_DROPPED)
    return sum(int(row[column], 16) for row in rows)
