"""A UDP probe between pods: the prober, or its reflector, as the first process of a container.

    python -m plimsoll.churn.pod_streams.probe_agent FOLDER reflect PORT
    python -m … FOLDER probe PORT ADDRESS PPS

FOLDER/ready is there once it has its socket. A prober's report is what it wrote, by gzip; how it
is ended is pod_agent.py's.
"""

from __future__ import annotations

import gzip
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from plimsoll.churn.latency.udp_prober import UdpProber, open_reflector, reflect, stamped_socket
from plimsoll.churn.pod_streams.pod_agent import (
    READY,
    agent_command,
    keep_report,
    note_pid,
)
from plimsoll.host.entry.entry_point import enter

_MODULE = "plimsoll.churn.pod_streams.probe_agent"


def reflect_command(port: int) -> list[str]:
    """Of a container that reflects."""
    return agent_command(_MODULE, "reflect", str(port))


def probe_command(port: int, address: str, pps: int) -> list[str]:
    """Of one that probes."""
    return agent_command(_MODULE, "probe", str(port), address, str(pps))


def main(arguments: Sequence[str]) -> int:
    """Be one of the two, until SIGTERM."""
    folder, role, port, *rest = arguments
    signal.signal(signal.SIGTERM, _leave)
    if role == "reflect":
        with open_reflector(int(port)) as reflector:
            (Path(folder) / READY).touch()
            reflect(reflector)
    address, pps = rest
    with _connected(address, int(port)) as connected:
        _probe(Path(folder), connected, round(1e9 / int(pps)))
    while True:
        signal.pause()


def _leave(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


def _connected(address: str, port: int) -> socket.socket:
    family, *_, end = socket.getaddrinfo(address, port, type=socket.SOCK_DGRAM)[0]
    made = stamped_socket(family)
    made.connect(end)
    return made


def _probe(folder: Path, connected: socket.socket, interval_ns: int) -> None:
    """Until SIGINT; its report is there then."""
    log = folder / "probe.csv"
    with log.open("w") as output:
        prober = UdpProber(connected, connected, interval_ns, output)
        signal.signal(signal.SIGINT, prober.end)
        note_pid(folder)
        (folder / READY).touch()
        prober.run()
    keep_report(folder, gzip.compress(log.read_bytes()))


if __name__ == "__main__":
    enter(lambda: main(sys.argv[1:]))
