"""Goes to its place and becomes another program: `placed.py NICENESS CPUS CGROUP TASKS -- …`.

CPUS are numbers with commas between, or "" for those it has; CGROUP is a folder, or "" for the
one it is in; TASKS is the file of a resctrl group, or "" likewise. So the program never runs
anywhere else, not even at first. It is run by its path and imports nothing of Plimsoll's, because
each trial waits for it.
"""

import os
import sys
from pathlib import Path

_AUTOGROUP = Path("/proc/self/autogroup")


def place(niceness: int, cpus: set[int], cgroup: str, resctrl_tasks: str) -> None:
    """Put this process there. Raises OSError."""
    if cgroup:
        (Path(cgroup) / "cgroup.procs").write_text("0")
    if resctrl_tasks:
        # 0 means the task that writes, and what it starts follows it.
        Path(resctrl_tasks).write_text("0")
    if cpus:
        os.sched_setaffinity(0, cpus)
    os.setpriority(os.PRIO_PROCESS, 0, niceness)
    # Where the kernel groups tasks by session, a niceness counts only inside of the group.
    if _AUTOGROUP.exists():
        _AUTOGROUP.write_text(str(niceness))


if __name__ == "__main__":
    niceness, cpus, cgroup, resctrl_tasks = sys.argv[1:5]
    place(int(niceness), {int(cpu) for cpu in cpus.split(",") if cpu}, cgroup, resctrl_tasks)
    os.execv(sys.argv[6], sys.argv[6:])  # noqa: S606 - an argument vector, no shell
