"""A task that takes a CPU for 2 ms every 100 ms, by real-time priority; run as a program.

`noise_thief.py CPU NAME`: prints the begin and end of each visit, in ns since 1970, until its
standard input ends.
"""

import os
import select
import sys
import time
from pathlib import Path

VISIT_NS = 2_000_000
EVERY_S = 0.1
REFUSED = 77


def main() -> None:
    Path("/proc/self/comm").write_text(sys.argv[2])
    os.sched_setaffinity(0, {int(sys.argv[1])})
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    except PermissionError:
        sys.exit(REFUSED)
    visits = []
    while not select.select([sys.stdin], [], [], EVERY_S)[0]:
        begin = time.time_ns()
        while time.time_ns() - begin < VISIT_NS:
            pass
        visits.append((begin, time.time_ns()))
    for begin, end in visits:
        print(begin, end)


if __name__ == "__main__":
    main()
