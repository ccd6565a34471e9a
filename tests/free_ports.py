"""Ports of loopback that nothing listens on: for programs that take a number, not a socket.

Each stays this process's until it ends, so that no other worker or session of tests gets the same
one in the time until the program listens; the kernel gives them to nobody who asks for any.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

_FIRST, _LAST = 10_000, 65_535
_KERNELS_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
# Abstract Unix sockets, which end with us whatever ends us, and are those of our network
# namespace, as ports are.
_holders: list[socket.socket] = []


def free_port() -> int:
    """One that is ours from now on."""
    for port in _candidates():
        holder = _held(port)
        if holder is None:
            continue
        if _nothing_listens(port):
            _holders.append(holder)
            return port
        holder.close()
    raise AssertionError("no port is free")


def free_ports(count: int) -> list[int]:
    """As many, each another."""
    return [free_port() for _ in range(count)]


def _candidates() -> Iterator[int]:
    """Those that the kernel does not choose itself, from another place for each process on."""
    first, last = map(int, _KERNELS_RANGE.read_text().split())
    ports = [port for port in range(_FIRST, _LAST + 1) if not first <= port <= last]
    ports = ports or list(range(_FIRST, _LAST + 1))
    begin = os.getpid() * 97 % len(ports)
    yield from ports[begin:] + ports[:begin]


def _held(port: int) -> socket.socket | None:
    """What keeps it from other test processes; None where one has it."""
    holder = socket.socket(socket.AF_UNIX)
    try:
        holder.bind(f"\0plimsoll-test-port-{port}")
    except OSError:
        holder.close()
        return None
    return holder


def _nothing_listens(port: int) -> bool:
    """Neither by TCP nor by UDP, at any address."""
    with ExitStack() as stack:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            probe = stack.enter_context(socket.socket(socket.AF_INET, kind))
            try:
                probe.bind(("", port))
            except OSError:
                return False
    return True
