"""Goes to its place and becomes another program: `placed.py NICENESS CPUS CGROUP -- PROGRAM …`.

CPUS are numbers with commas between, or "" for those it has; CGROUP is a folder, or "" for the
one it is in. So the program never runs anywhere else, not even at first. It is run by its path
and imports nothing of Plimsoll's, because each trial waits for it.
"""

import os
import sys
from pathlib import Path

_AUTOGROUP = Path("/proc/self/autogroup")


def place(niceness: int, cpus: set[int], cgroup: str) -> None:
    """Put this process there. Raises OSError."""
    if cgroup:
        (Path(cgroup) / "cgroup.procs").write_text("0")
    if cpus:
        os.sched_setaffinity(0, cpus)
    os.setpriority(os.PRIO_PROCESS, 0, niceness)
    # Where the kernel groups tasks by session, a niceness counts only inside of the group.
    if _AUTOGROUP.exists():
        _AUTOGROUP.write_text(str(niceness))


if __name__ == "__main__":
    place(int(sys.argv[1]), {int(cpu) for cpu in sys.argv[2].split(",") if cpu}, sys.argv[3])
    os.execv(sys.argv[5], sys.argv[5:])  # noqa: S606 - an argument vector, no shell
