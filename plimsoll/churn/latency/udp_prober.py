"""Sends UDP datagrams from one network namespace to another at a fixed rate, and times each.

    python -m plimsoll.churn.latency.udp_prober CLIENT SERVER ADDRESS PORT PPS

CLIENT and SERVER are files of namespaces. A datagram's latency is from the call that sends it
to the stamp that the kernel gives it on arrival (SO_TIMESTAMPNS), both by this machine's
CLOCK_REALTIME: how late this process then reads it is no part of it.

Where a reflector answers (udp_reflector.py), one socket is both, and a datagram's latency is that
of both ways without the time that the reflector held it, by its own clock.

A line for each datagram: its number, when it was sent in ns since the epoch, its
latency in ns, which is missing of those that never came. The last line begins with "end". SIGINT
or SIGTERM ends it, and what is on its way then has half a second.

Answers a prober's datagrams, and says in each how long it held it. So latency is there and back
without what this process takes to wake up, and without a clock in common: what the session
reflector of STAMP (RFC 8762) does, by the kernel's stamp on arrival.
"""

from __future__ import annotations

import contextlib
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TextIO

from plimsoll.host.entry.entry_point import enter
from plimsoll.host.namespaces.network_namespace import run_within

# Number, when it was sent, and how long a reflector held it, in ns.
DATAGRAM = struct.Struct("!QQQ")
PAYLOAD_BYTES = 64
_TIMESPEC = struct.Struct("@ll")
# Linux's numbers (asm-generic/socket.h), which Python's socket module lacks.
_SO_RCVBUFFORCE = 33
_SO_TIMESTAMPNS = 35
_CONTROL_BYTES = socket.CMSG_SPACE(_TIMESPEC.size)
# Holds ten thousand datagrams, however long this process is kept from reading.
_BUFFER_BYTES = 8 << 20
_LAST_S = 0.5
# The first stamps of a machine are not the kernel's yet: it begins a moment after a request.
_WARM_UP = 50


def main() -> None:
    """Probe until a signal."""
    client, server, address, port, pps = sys.argv[1:]
    end = (address, int(port))
    receiver = run_within(Path(server), lambda: _receiver(end))
    sender = run_within(Path(client), lambda: _sender(end))
    prober = UdpProber(sender, receiver, round(1e9 / float(pps)), sys.stdout)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, prober.end)
    prober.run()


@dataclass
class UdpProber:
    """One flow of datagrams, an interval apart.

    Where it was kept from sending for several intervals, it sends once and counts the others as
    unsent: those would all tell of the same moment.
    """

    sender: socket.socket
    receiver: socket.socket
    interval_ns: int
    output: TextIO
    _ended: bool = False
    _unsent: int = 0
    _duplicates: int = 0
    _sent: int = 0
    _pending: dict[int, int] = field(default_factory=dict)

    def run(self) -> None:
        """Until `end`."""
        due_ns = time.monotonic_ns()
        while not self._ended:
            late_ns = time.monotonic_ns() - due_ns
            if late_ns < 0:
                time.sleep(-late_ns / 1e9)
                continue
            missed = late_ns // self.interval_ns
            self._unsent += missed if self._sent > _WARM_UP else 0
            due_ns += (missed + 1) * self.interval_ns
            self._send()
            self._drain()
        self._finish()

    def end(self, _number: int, _frame: FrameType | None) -> None:
        """For a signal."""
        self._ended = True

    def _send(self) -> None:
        self._sent += 1
        sent_ns = time.time_ns()
        if self._sent > _WARM_UP:
            self._pending[self._sent] = sent_ns
        datagram = DATAGRAM.pack(self._sent, sent_ns, 0).ljust(PAYLOAD_BYTES, b"\0")
        try:
            self.sender.send(datagram)
        except OSError:
            # Without a route, a neighbour or a listener it is lost, as any other.
            return

    def _drain(self) -> None:
        for each in arrivals(self.receiver):
            sent_ns = self._pending.pop(each.number, None)
            if sent_ns is not None:
                latency_ns = each.came_ns - sent_ns - each.held_ns
                self.output.write(f"{each.number - _WARM_UP},{sent_ns},{latency_ns}\n")
            elif each.number > _WARM_UP:
                self._duplicates += 1

    def _finish(self) -> None:
        deadline = time.monotonic() + _LAST_S
        while self._pending and (left_s := deadline - time.monotonic()) > 0:
            select.select([self.receiver], [], [], left_s)
            self._drain()
        for number, sent_ns in self._pending.items():
            self.output.write(f"{number - _WARM_UP},{sent_ns},\n")
        self.output.write(f"end,{self._unsent},{self._duplicates}\n")
        self.output.flush()


@dataclass(frozen=True, slots=True)
class Arrival:
    """A datagram that has come: when, in ns since the epoch by the kernel, and from whom."""

    number: int
    sent_ns: int
    held_ns: int
    came_ns: int
    sender: tuple[object, ...]


def arrivals(receiver: socket.socket) -> Iterator[Arrival]:
    """Those that are there. Others than ours are left out."""
    while True:
        try:
            data, control, _flags, sender = receiver.recvmsg(
                PAYLOAD_BYTES, _CONTROL_BYTES, socket.MSG_DONTWAIT
            )
        except (BlockingIOError, ConnectionRefusedError):
            return
        stamps = [each for level, kind, each in control if kind == _SO_TIMESTAMPNS]
        if len(data) == PAYLOAD_BYTES and stamps:
            seconds, nanoseconds = _TIMESPEC.unpack(stamps[0])
            came_ns = seconds * 1_000_000_000 + nanoseconds
            number, sent_ns, held_ns = DATAGRAM.unpack_from(data)
            yield Arrival(number, sent_ns, held_ns, came_ns, sender)


def stamped_socket(family: int = socket.AF_INET) -> socket.socket:
    """One of which the kernel stamps what comes in, with a large buffer where that is allowed."""
    made = socket.socket(family, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
    made.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    try:
        made.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _BUFFER_BYTES)
    except PermissionError:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
    return made


def _receiver(end: tuple[str, int]) -> socket.socket:
    made = stamped_socket()
    made.bind(end)
    return made


def _sender(end: tuple[str, int]) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
    made.connect(end)
    return made


def open_reflector(port: int) -> socket.socket:
    """A socket on all addresses, of IPv6 where there is some. Raises OSError."""
    try:
        made = stamped_socket(socket.AF_INET6)
        made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        made.bind(("::", port))
    except OSError:
        made = stamped_socket()
        made.bind(("0.0.0.0", port))  # noqa: S104 - of a pod, whose address no one knows before
    return made


def reflect(reflector: socket.socket) -> None:
    """Until a signal's handler ends it. An answer is no longer than what it answers."""
    while True:
        select.select([reflector], [], [])
        for each in arrivals(reflector):
            answer = DATAGRAM.pack(each.number, each.sent_ns, time.time_ns() - each.came_ns)
            with contextlib.suppress(OSError):
                reflector.sendto(answer.ljust(PAYLOAD_BYTES, b"\0"), each.sender)


if __name__ == "__main__":
    enter(main)
