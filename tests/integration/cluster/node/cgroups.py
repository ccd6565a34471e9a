"""The control groups of a node, which outlive its processes: made, and removed.

`python -m tests.integration.cluster.node.cgroups NAME` removes them, as a ledger does whose test
was killed.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

_HIERARCHIES = Path("/sys/fs/cgroup")
_CPUSET = _HIERARCHIES / "cpuset"
# What is killed leaves its groups in its own time.
_PATIENCE_S = 60.0


def make_cgroups(name: str) -> None:
    """One in each hierarchy of cgroup v1; that of cpuset is empty until it is written."""
    for hierarchy in _HIERARCHIES.iterdir():
        with contextlib.suppress(OSError):
            (hierarchy / name).mkdir()
    for file in ("cpuset.cpus", "cpuset.mems"):
        if (_CPUSET / file).exists():
            (_CPUSET / name / file).write_text((_CPUSET / file).read_text())


def left_cgroups(name: str) -> list[Path]:
    """What is left of it, the deepest first."""
    return [folder for hierarchy in _HIERARCHIES.iterdir() for folder in _below(hierarchy / name)]


def remove_cgroups(name: str) -> list[Path]:
    """Remove it in each hierarchy, and return what cannot be."""
    deadline = time.monotonic() + _PATIENCE_S
    while (left := left_cgroups(name)) and time.monotonic() < deadline:
        for folder in left:
            with contextlib.suppress(OSError):
                folder.rmdir()
        time.sleep(0.1)
    return left


def _below(group: Path) -> Iterator[Path]:
    for folder, _, _ in os.walk(group, topdown=False):
        yield Path(folder)


if __name__ == "__main__":
    if unremoved := remove_cgroups(sys.argv[1]):
        raise SystemExit(f"cannot remove {', '.join(map(str, unremoved))}")
