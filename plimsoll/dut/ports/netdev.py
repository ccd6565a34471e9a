"""A kernel interface as a port of the tester: by AF_XDP where it can, else by AF_PACKET."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from plimsoll.errors import InputError, MachineError
from plimsoll.host.ports.netdevs import Netdev, netdevs
from plimsoll.host.ports.own_traffic import interfaces_in_use, read_routes
from plimsoll.host.ports.xdp_socket import why_no_xdp_socket
from plimsoll.host.processes.privileges import (
    effective_capabilities,
    missing_for_packet_sockets,
    missing_for_xdp,
)
from plimsoll.search.text.wire import FCS_BYTES

NetdevDriver = Literal["auto", "af_xdp", "af_packet"]

# XDP_FRAME_MAX_BYTES of engine/src/ports/port_limits.c: a buffer is at most a page.
_LONGEST_XDP_BYTES = 3392
# AF_PACKET's buffers: what the driver takes by itself, what the kernel puts before a frame
# (TPACKET_V2, and 14 bytes of Ethernet), and the memory that a queue's may take each way.
_PACKET_BUFFER_BYTES = 2048
_PACKET_HEADER_BYTES = 66
_PACKET_RING_BYTES = 4096 * _PACKET_BUFFER_BYTES


@dataclass(frozen=True, slots=True)
class NetdevPort:
    """How the tester opens an interface, what its queue holds, and which way was taken."""

    devargs: str
    queue_frames: int | None
    speed_mbps: int | None
    note: str


@dataclass(frozen=True, slots=True)
class NetdevFacts:
    """What decides how an interface is opened."""

    netdevs: Mapping[str, Netdev]
    in_use: Mapping[str, str]
    capabilities: Collection[str]
    why_no_xdp: Callable[[str, int], str | None] = why_no_xdp_socket


def netdev_facts() -> NetdevFacts:
    """The machine's."""
    found = {each.name: each for each in netdevs()}
    masters = {name: each.masters for name, each in found.items()}
    return NetdevFacts(found, interfaces_in_use(read_routes(), masters), effective_capabilities())


def open_netdev(
    name: str,
    port: int,
    *,
    place: str,
    driver: NetdevDriver,
    queues: int,
    frame_size: int,
    facts: NetdevFacts,
) -> NetdevPort:
    """Choose how the tester's `port` opens an interface, for frames up to `frame_size` with FCS.

    `place` is where the ports are written. Raises InputError for one that must be left alone,
    MachineError for what it lacks.
    """
    where = f"{place}[{port}].netdev"
    netdev = usable_netdev(name, where, facts)
    why_not = _why_no_xdp(netdev, queues, frame_size, facts)
    if driver == "af_xdp" and why_not:
        raise MachineError(
            f"{name} cannot be opened by AF_XDP: {why_not}",
            where=where,
            remedy="fix that, or set driver to auto or af_packet",
        )
    if driver == "af_packet" or why_not:
        reason = f"instead of AF_XDP: {why_not}" if why_not else "as requested"
        return _by_packet(netdev, port, queues, frame_size, reason)
    return _by_xdp(netdev, port, queues)


def usable_netdev(name: str, where: str, facts: NetdevFacts, *, carrier: bool = True) -> Netdev:
    """The interface, if it may be and can be a port of the tester.

    Without `carrier` it may be without one, as that of a cable whose other end is down. Raises
    InputError for one that must be left alone, MachineError for what it lacks.
    """
    netdev = check_not_in_use(name, where, facts)
    missing = missing_for_packet_sockets(facts.capabilities)
    if missing:
        raise MachineError(
            f"this user may not send on {name}",
            where=where,
            remedy=f"run as root, or with {', '.join(missing)}",
        )
    if problem := _link_problem(netdev, carrier=carrier):
        raise MachineError(f"{name} {problem[0]}", where=where, remedy=problem[1])
    return netdev


def check_not_in_use(name: str, where: str, facts: NetdevFacts) -> Netdev:
    """The interface, unless the machine depends on it. Raises InputError."""
    netdev = facts.netdevs.get(name)
    if netdev is None:
        free = ", ".join(sorted(set(facts.netdevs) - set(facts.in_use))) or "there is none"
        raise InputError(f"no interface {name!r}", where=where, remedy=f"choose from: {free}")
    if name in facts.in_use:
        raise InputError(
            f"{name} is not for tests: {facts.in_use[name]}",
            where=where,
            remedy="choose another; plimsoll ports lists them",
        )
    return netdev


def _link_problem(netdev: Netdev, *, carrier: bool) -> tuple[str, str] | None:
    """What keeps frames from passing, and how to fix it: DPDK's drivers do not check."""
    if netdev.masters:
        above = ", ".join(netdev.masters)
        return f"belongs to {above}", f"ip link set {netdev.name} nomaster, or choose another"
    if not netdev.up:
        return "is down", f"ip link set {netdev.name} up"
    if carrier and not netdev.carrier:
        return "has no carrier", "check its cable and that the other end is up"
    return None


def _why_no_xdp(netdev: Netdev, queues: int, frame_size: int, facts: NetdevFacts) -> str | None:
    if frame_size - FCS_BYTES > _LONGEST_XDP_BYTES:
        return f"it carries frames of up to {_LONGEST_XDP_BYTES + FCS_BYTES} bytes only"
    if missing := missing_for_xdp(facts.capabilities):
        return f"it needs {', '.join(missing)}"
    if netdev.rx_queues > queues:
        return (
            f"it would see {queues} of {netdev.rx_queues} receive queues "
            f"(ethtool -L {netdev.name} combined {queues}, or set queues)"
        )
    reasons = (facts.why_no_xdp(netdev.name, queue) for queue in range(queues))
    return next((reason for reason in reasons if reason), None)


def _by_xdp(netdev: Netdev, port: int, queues: int) -> NetdevPort:
    more = f",queue_count={queues}" if queues > 1 else ""
    return NetdevPort(
        devargs=f"net_af_xdp{port},iface={netdev.name}{more}",
        queue_frames=None,
        speed_mbps=wire_speed(netdev),
        note=f"port {port} is {netdev.name}, opened by AF_XDP",
    )


def _by_packet(netdev: Netdev, port: int, queues: int, frame_size: int, reason: str) -> NetdevPort:
    opened = by_packet_socket(netdev.name, port, frame_size)
    more = f",qpairs={queues}" if queues > 1 else ""
    return NetdevPort(
        devargs=f"{opened.devargs}{more}",
        queue_frames=opened.queue_frames,
        speed_mbps=wire_speed(netdev),
        note=f"port {port} is {netdev.name}, opened by AF_PACKET {reason}",
    )


@dataclass(frozen=True, slots=True)
class PacketSocket:
    """How DPDK opens an interface by AF_PACKET: the frames of a ring, the bytes of a buffer."""

    devargs: str
    queue_frames: int
    buffer_bytes: int


def by_packet_socket(interface: str, port: int, frame_size: int) -> PacketSocket:
    """The port of that number, for frames of up to `frame_size` bytes with FCS."""
    buffer_bytes, buffers = _packet_buffers(frame_size - FCS_BYTES)
    frames = _PACKET_RING_BYTES // buffer_bytes // 32 * 32
    devargs = f"net_af_packet{port},iface={interface},framecnt={frames}{buffers}"
    return PacketSocket(devargs, frames, buffer_bytes)


def wire_speed(netdev: Netdev) -> int | None:
    """A card's; what the kernel says of a virtual interface means nothing (veth: 10 Gbps)."""
    return netdev.speed_mbps if netdev.pci_address else None


def _packet_buffers(frame_bytes: int) -> tuple[int, str]:
    """The bytes of a buffer, and devargs for others than the driver's own.

    The driver wants blocks of whole buffers, the kernel of whole pages: 32 times a
    multiple of 128 bytes is both.
    """
    if frame_bytes + _PACKET_HEADER_BYTES <= _PACKET_BUFFER_BYTES:
        return _PACKET_BUFFER_BYTES, ""
    size = -(-(frame_bytes + _PACKET_HEADER_BYTES) // 128) * 128
    return size, f",blocksz={32 * size},framesz={size}"
