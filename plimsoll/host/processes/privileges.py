"""What a process that handles packets may do, by the kinds of ports that it opens.

The capabilities are those of capabilities(7). What each kind needs was found from the kernel's
checks, and by the integration tests of ports running with no others.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from plimsoll.host.processes.capabilities import effective_numbers

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
