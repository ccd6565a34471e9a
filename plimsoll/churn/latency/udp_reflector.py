"""Answers a prober's datagrams, and says in each how long it held it.

So latency is there and back without what this process takes to wake up, and without a clock in
common: what the session reflector of STAMP (RFC 8762) does, by the kernel's stamp on arrival.
"""

from __future__ import annotations

import contextlib
import select
import socket
import time

from plimsoll.churn.latency.udp_prober import (
    DATAGRAM,
    PAYLOAD_BYTES,
    arrivals,
    stamped_socket,
)


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
