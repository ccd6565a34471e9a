"""Forks the command from a process that has it loaded, and holds it until strace has it.

One JSON object a line on stdin: the command's `words`, its `folder` and `environment`, and
`strace`, the options of one that is to trace it (none: it runs alone). One line back: `status`,
`out` and `err`. What is forked ends as a program does, by the interpreter's own end.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from plimsoll.cli.main import main as command_line
from plimsoll.host.entry.entry_point import enter
from tests.integration import loaded_commands  # noqa: F401 - it loads them

# Looked up, and not there: from here on it is Plimsoll that calls.
MARK = "/plimsoll-begins-here"
_PATIENCE_S = 600
_BLOCK_BYTES = 65536


def main() -> None:
    """Until stdin ends."""
    for line in sys.stdin:
        request = json.loads(line)
        gate, ready, (out, err) = os.pipe(), os.pipe(), (os.pipe(), os.pipe())
        pid = os.fork()
        if not pid:
            _become(request, gate, ready[1], (out, err))
        for descriptor in (gate[0], ready[1], out[1], err[1]):
            os.close(descriptor)
        _wait_at_the_gate(pid, ready[0])
        reply = _followed(pid, request["strace"], gate[1], (out[0], err[0]))
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


def _become(
    request: Mapping[str, Any],
    gate: tuple[int, int],
    ready: int,
    outputs: Sequence[tuple[int, int]],
) -> None:
    """The command, as if it had been started."""
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    null = os.open(os.devnull, os.O_RDONLY)
    for number, descriptor in enumerate((null, outputs[0][1], outputs[1][1])):
        os.dup2(descriptor, number)
    os.close(gate[1])
    os.write(ready, b"x")
    os.read(gate[0], 1)
    os.closerange(3, 64)
    sys.argv = ["plimsoll", *request["words"]]
    os.access(MARK, os.R_OK)
    enter(command_line)


def _wait_at_the_gate(pid: int, ready: int) -> None:
    """Until it sleeps there, so that a tracer sees no call of ours, however late it was run."""
    os.read(ready, 1)
    os.close(ready)
    while Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "S":
        time.sleep(0.001)


def _followed(
    pid: int, strace: Sequence[str] | None, gate: int, outputs: Sequence[int]
) -> Mapping[str, object]:
    tracer = None
    if strace is not None:
        tracer = subprocess.Popen(["strace", "-qq", "-y", "-s", "1", *strace, "-p", str(pid)])
        while tracer.poll() is None and not _is_traced(pid):
            time.sleep(0.005)
    os.write(gate, b"x")
    os.close(gate)
    out, err = _read(outputs, pid)
    _, status = os.waitpid(pid, 0)
    if tracer is not None:
        tracer.wait()
    return {"status": os.waitstatus_to_exitcode(status), "out": out, "err": err}


def _is_traced(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status").read_text()
    return "TracerPid:\t0\n" not in status


def _read(outputs: Sequence[int], pid: int) -> list[str]:
    """To their ends, which come with the end of the command and of all that it has started."""
    said = dict.fromkeys(outputs, b"")
    left, deadline_s = set(outputs), time.monotonic() + _PATIENCE_S
    while left:
        ready, _, _ = select.select(list(left), [], [], 1.0)
        for each in ready:
            block = os.read(each, _BLOCK_BYTES)
            said[each] += block
            if not block:
                os.close(each)
                left.remove(each)
        if time.monotonic() > deadline_s:
            # A test that hangs is a failure, and its status says so.
            os.kill(pid, signal.SIGKILL)
    return [said[each].decode(errors="replace") for each in outputs]


if __name__ == "__main__":
    main()
