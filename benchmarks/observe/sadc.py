"""What sysstat's collector costs on this host: `sadc -S ALL`, which stores what sar shows."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import tempfile
from pathlib import Path

_PLACES = ("/usr/lib/sysstat", "/usr/lib64/sa", "/usr/libexec/sysstat")


def find_sadc() -> str | None:
    """Its path; None where sysstat is not installed (`apt-get install sysstat`)."""
    return shutil.which("sadc", path=os.pathsep.join([*_PLACES, os.environ.get("PATH", "")]))


def sadc_ms(sadc: str, readings: int) -> float:
    """CPU time of one reading in ms, of this many, a second apart.

    What starting it costs is taken off: that of a run with two readings.
    """
    long, short = (_cpu_s(sadc, count) for count in (readings + 2, 2))
    return max(0.0, long - short) / readings * 1e3


def _cpu_s(sadc: str, readings: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sadc, "-S", "ALL", "1", str(readings), str(Path(folder) / "sa")]
        subprocess.run(command, check=True)  # noqa: S603 - an argument vector, no shell
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
