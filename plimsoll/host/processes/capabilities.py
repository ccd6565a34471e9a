"""What this process may do beyond an ordinary user's rights (capabilities(7))."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

# By number, from linux/capability.h; those that ports need.
_NUMBERS = {
    "CAP_NET_ADMIN": 12,
    "CAP_NET_RAW": 13,
    "CAP_IPC_LOCK": 14,
    "CAP_SYS_ADMIN": 21,
    "CAP_BPF": 39,
}
_EFFECTIVE = re.compile(r"^CapEff:\s*([0-9a-f]+)$", re.MULTILINE)


def effective_capabilities(status: Path = Path("/proc/self/status")) -> frozenset[str]:
    """Those of this process, by name, among the ones that ports need."""
    held = effective_numbers(status)
    return frozenset(name for name, number in _NUMBERS.items() if number in held)


def effective_numbers(status: Path = Path("/proc/self/status")) -> frozenset[int]:
    """All of this process's, by number (linux/capability.h)."""
    found = _EFFECTIVE.search(status.read_text())
    bits = int(found.group(1), 16) if found else 0
    return frozenset(number for number in range(bits.bit_length()) if bits >> number & 1)


def missing_for_packet_sockets(held: Collection[str]) -> tuple[str, ...]:
    """What AF_PACKET needs and is not held."""
    return () if "CAP_NET_RAW" in held else ("CAP_NET_RAW",)


def missing_for_xdp(held: Collection[str]) -> tuple[str, ...]:
    """What AF_XDP needs, an XDP program's loading included, and is not held."""
    # CAP_SYS_ADMIN did for CAP_BPF before Linux 5.8 and still does.
    held = {*held, "CAP_BPF"} if "CAP_SYS_ADMIN" in held else held
    return tuple(name for name in ("CAP_NET_RAW", "CAP_NET_ADMIN", "CAP_BPF") if name not in held)
