"""Polling loops before ordinary programs, on CPUs that are not isolated from them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# An ordinary busy process still gets 1.1 % of the CPU, by the kernel's weights (88761 to 1024,
# sched_prio_to_weight), but no longer whole time slices in a row. At -15 it got 3.4 %, most of
# what a trial may lose. Real-time scheduling would starve the kernel's own threads.
_NICENESS = -20
_PROC = Path("/proc")


# Of polling loops on CPUs on which other programs have to work as well, as clients of ours that
# keep time: at -20 a client that is busy for a fifth of a second needs ten. An ordinary program
# has 10 % of each CPU so, a slice of some 3 ms at a time.
SHARING = -10

# Of a server whose clients wait for it on CPUs that are polled: between the polling loops and
# ordinary programs. As one of these it would get the CPU some 260 ms after it asks
# (a slice of 3 ms by the weights above, seen with Linux 6.18).
_SERVER_NICENESS = -10


@contextmanager
def quick_to_answer() -> Iterator[None]:
    """Put this thread and those that it starts here before ordinary programs, if allowed.

    Where the kernel groups tasks by session, that counts only inside of the session.
    """
    before = os.getpriority(os.PRIO_PROCESS, 0)
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, min(before, _SERVER_NICENESS))
    try:
        yield
    finally:
        os.setpriority(os.PRIO_PROCESS, 0, before)


def favour(session_leader: int, niceness: int = _NICENESS) -> bool:
    """Put all of a session's threads before ordinary programs; whether we were allowed to.

    Where the kernel groups tasks by session (autogroup), a niceness counts only inside
    the group, so the group gets it too.
    """
    with contextlib.suppress(OSError):
        (_PROC / str(session_leader) / "autogroup").write_text(str(niceness))
    try:
        os.setpriority(os.PRIO_PGRP, session_leader, niceness)
    except PermissionError:
        return False
    except ProcessLookupError:
        # It has ended already, which its waiter will notice.
        return False
    return True
