"""The stated load next to a measurement: one ordinary busy process on each CPU."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def busy_processes() -> Iterator[None]:
    """A Python process that never sleeps, pinned to each CPU, for the length of a `with`."""
    busy = [_pinned_to(cpu) for cpu in sorted(os.sched_getaffinity(0))]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def _pinned_to(cpu: int) -> subprocess.Popen[bytes]:
    program = f"import os\nos.sched_setaffinity(0, [{cpu}])\nwhile 1: pass"
    tied = ("setpriv", "--pdeathsig", "KILL", "--")
    return subprocess.Popen([*tied, sys.executable, "-c", program])  # noqa: S603 - no shell
