"""What a process that handles packets may do, by the kinds of ports that it opens.

The capabilities are those of capabilities(7). What each kind needs was found from the kernel's
checks, and by the integration tests of ports running with no others.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

_LAST = Path("/proc/sys/kernel/cap_last_cap")
# By number, from linux/capability.h.
_DAC_OVERRIDE, _NET_ADMIN, _NET_RAW, IPC_LOCK = 1, 12, 13, 14
_SYS_RAWIO, _SYS_ADMIN, _SYS_RESOURCE, _PERFMON, _BPF = 17, 21, 24, 38, 39
_SETPCAP = 8
_NOTHING: frozenset[int] = frozenset()
# AF_PACKET's socket; promiscuity and the MTU of its interface; rings that the driver locks.
_PACKET = frozenset({_NET_RAW, _NET_ADMIN, IPC_LOCK})
# The same; a program and its maps to load; rings that are locked beyond RLIMIT_MEMLOCK, which
# libbpf raises; and libxdp finds programs that are there already by their ids (CAP_SYS_ADMIN).
_XDP = _PACKET | {_BPF, _PERFMON, _SYS_RESOURCE, _SYS_ADMIN, _DAC_OVERRIDE}
# A socket that may be another user's, such as Open vSwitch's.
_SOCKET = frozenset({_DAC_OVERRIDE})
# Memory locked for the device; its physical addresses (CAP_SYS_ADMIN) and ports (CAP_SYS_RAWIO)
# without an IOMMU; and what the drivers alongside the kernel's own (mlx5, mana) require.
_DEVICE = frozenset({IPC_LOCK, _SYS_ADMIN, _SYS_RAWIO, _NET_ADMIN, _NET_RAW, _DAC_OVERRIDE})
_BY_DRIVER = {
    "net_ring": _NOTHING,
    "net_null": _NOTHING,
    "net_memif": _SOCKET,
    "net_vhost": _SOCKET,
    "net_virtio_user": _SOCKET | _PACKET,
    "net_af_packet": _PACKET,
    "net_pcap": _PACKET | _SOCKET,
    "net_tap": _PACKET | _SOCKET,
    "net_af_xdp": _XDP,
}
# As memif, and as vhost, names it.
_SOCKET_PATH = re.compile(r",(?:socket|iface)=(/[^,]+)")
_DRIVER = re.compile(r"(net_[a-z_]*[a-z])[0-9]*(?:,|$)", re.ASCII)
# By number, from linux/capability.h; those that ports need.
_NUMBERS = {
    "CAP_NET_ADMIN": 12,
    "CAP_NET_RAW": 13,
    "CAP_IPC_LOCK": 14,
    "CAP_SYS_ADMIN": 21,
    "CAP_BPF": 39,
}
_EFFECTIVE = re.compile(r"^CapEff:\s*([0-9a-f]+)$", re.MULTILINE)


def needed_for(devargs: Iterable[str]) -> frozenset[int]:
    """The capabilities that ports with these devargs need, by number.

    A PCI device, and a driver that is not known here, gets what any device needs.
    """
    return frozenset().union(*map(_needed_for_one, devargs))


def limited(argv: Sequence[str], needed: frozenset[int], last: Path = _LAST) -> tuple[str, ...]:
    """`argv` such that its process has at most the capabilities `needed`, and gains none by exec.

    Without CAP_SETPCAP the kernel does not let a process narrow what may be gained; then only
    gaining by exec is given up, and not even that where the program's file may have to bring what
    its ports need.
    """
    held = effective_numbers()
    options: tuple[str, ...] = ("--no-new-privs",)
    if _SETPCAP in held:
        # By number: setpriv refuses names and "all" where the kernel is newer than its library.
        dropped = ",".join(
            f"-cap_{number}" for number in range(int(last.read_text()) + 1) if number not in needed
        )
        options = (*options, "--inh-caps", dropped, "--bounding-set", dropped)
    elif not needed <= held:
        return tuple(argv)
    return ("setpriv", *options, "--", *argv)


def needed_to_make(socket: Path) -> frozenset[int]:
    """What it takes to make a socket there: nothing in a directory of our own."""
    return _NOTHING if _is_ours(socket.parent) else _SOCKET


def _needed_for_one(devargs: str) -> frozenset[int]:
    match = _DRIVER.match(devargs)
    needed = _BY_DRIVER.get(match[1], _DEVICE) if match else _DEVICE
    socket = _SOCKET_PATH.search(devargs)
    ours = socket is not None and _is_ours(Path(socket[1])) and _is_ours(Path(socket[1]).parent)
    return needed - _SOCKET if ours and needed == _SOCKET else needed


def _is_ours(path: Path) -> bool:
    try:
        return path.stat().st_uid == os.geteuid()
    except OSError:
        return False


# What this process may do beyond an ordinary user's rights (capabilities(7)).
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
