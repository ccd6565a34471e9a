"""Runs a command in the guest as if it were a process here: its input and output are this one's.

    python -m tests.integration.vm.in_guest FOLDER PROGRAM …

FOLDER is the guest's. The command's own errors go to standard error when it has ended. Only one
command at a time can be run so, for it has the guest's one port for this.
"""

from __future__ import annotations

import os
import select
import shlex
import socket
import sys
import time
import uuid
from pathlib import Path

_POLL_S = 0.1
# Between the command's end and the last of its output.
_LINGERING_S = 0.5
_CHUNK = 1 << 16


def main(folder: Path, argv: list[str]) -> int:
    """The command's exit status."""
    name = f"engine-{uuid.uuid4().hex[:8]}"
    status = folder / "shared" / f"{name}.status"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as port:
        port.connect(str(folder / "engine"))
        _start(folder / "shared", name, argv)
        _relay(port, status)
    os.write(2, status.with_suffix(".out").read_bytes())
    return int(status.read_text())


def _start(shared: Path, name: str, argv: list[str]) -> None:
    script = shared / f"{name}.new"
    script.write_text(f'port=$(echo /dev/vport*p1)\nexec {shlex.join(argv)} <>"$port" >&0\n')
    script.rename(script.with_suffix(".sh"))


def _relay(port: socket.socket, status: Path) -> None:
    """Both ways, until the command has ended; the end of our input is the end of the port's."""
    inputs: list[socket.socket | int] = [port, 0]
    ended: float | None = None
    while ended is None or time.monotonic() < ended + _LINGERING_S:
        ready, _, _ = select.select(inputs, [], [], _POLL_S)
        if port in ready:
            if said := port.recv(_CHUNK):
                os.write(1, said)
            else:
                inputs.remove(port)
        if 0 in ready:
            if read := os.read(0, _CHUNK):
                port.sendall(read)
            else:
                inputs.remove(0)
                # QEMU then hangs up, and the guest reads the end.
                port.shutdown(socket.SHUT_WR)
        if ended is None and status.exists():
            ended = time.monotonic()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
