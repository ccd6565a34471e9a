"""What the first processes of streams' containers have in common, and how they are ended.

    python -m plimsoll.churn.pod_streams.pod_agent FOLDER

is run next to one of them: it answers each line "clock" with the node's CLOCK_REALTIME in ns, and
"end" by having the process end what it does, which leaves its report: the number of its bytes on a
line, and then these.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from plimsoll.errors import MachineError
from plimsoll.host.entry.entry_point import enter

# A volume of the container's own.
FOLDER = Path("/tmp")  # noqa: S108 - of a container whose root cannot be written
READY = "ready"
CLOCK, END = b"clock", b"end"
_MODULE = "plimsoll.churn.pod_streams.pod_agent"
_REPORT, _PID = "report", "pid"
_POLL_S = 0.1
_LONGEST_END_S = 30.0


def agent_command(module: str, *arguments: str) -> list[str]:
    """Of a container whose first process is that module."""
    return ["python3", "-m", module, str(FOLDER), *arguments]


def end_command() -> list[str]:
    """What is run in it in the end."""
    return agent_command(_MODULE)


def note_pid(folder: Path) -> None:
    """Say whom to signal: SIGINT ends what it does, SIGTERM the process."""
    (folder / _PID).write_text(str(os.getpid()))


def keep_report(folder: Path, report: bytes) -> None:
    """Leave it to be fetched, as a whole."""
    part = folder / "report.part"
    part.write_bytes(report)
    part.rename(folder / _REPORT)


def main(folder: Path) -> int:
    """Until "end", or the end of the input."""
    for line in sys.stdin.buffer:
        if line.strip() == CLOCK:
            sys.stdout.write(f"{time.time_ns()}\n")
            sys.stdout.flush()
        elif line.strip() == END:
            return _end(folder)
    return 0


def _end(folder: Path) -> int:
    report = folder / _REPORT
    deadline = time.monotonic() + _LONGEST_END_S
    if not report.exists():
        os.kill(int((folder / _PID).read_text()), signal.SIGINT)
    while not report.exists():
        if time.monotonic() > deadline:
            print("it does not end", file=sys.stderr)
            return MachineError.exit_code
        time.sleep(_POLL_S)
    content = report.read_bytes()
    sys.stdout.buffer.write(b"%d\n" % len(content) + content)
    sys.stdout.flush()
    return 0


if __name__ == "__main__":
    enter(lambda: main(Path(sys.argv[1])))
