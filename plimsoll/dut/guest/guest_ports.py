"""How the two ports of a guest hang on the switch: as a program and as QEMU open them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol

from plimsoll.dut.ports.netdev import by_packet_socket
from plimsoll.host.namespaces.network_namespace import NetworkNamespace
from plimsoll.host.processes.privileges import needed_for, needed_to_make

PORTS = (0, 1)
# What a guest's interfaces are called in a namespace of its own.
GUEST_INTERFACES = ("eth0", "eth1")
# QEMU's rings beyond 256 frames towards the switch are for vhost-user alone.
_VHOST_USER_RING, _TAP_RING = 1024, 256
_VHOST_NET = "/dev/vhost-net"
# A frame in an mbuf follows so many bytes.
_MBUF_HEADROOM = 128
# DPDK's own (RTE_MBUF_DEFAULT_BUF_SIZE), for frames of usual length.
USUAL_MBUF_BYTES = 2176


class GuestPorts(Protocol):
    """Both ports of one guest."""

    # By what a program opens them, and by what the switch does QEMU's, for people.
    by: str
    backend: str
    # The longest MTU that passes.
    mtu: int
    # Of QEMU's rings towards the switch, in frames.
    qemu_ring: int

    @property
    def namespace(self) -> Path | None:
        """The network namespace that its process must live in; None where any will do."""

    @property
    def needed(self) -> frozenset[int]:
        """The capabilities of a DPDK program that opens them."""

    @property
    def mbuf_bytes(self) -> int:
        """What an mbuf must have, so that the driver accepts it."""

    def devargs(self, port: int) -> str:
        """As DPDK opens it."""

    def qemu_netdev(self, port: int, *, accelerated: bool) -> tuple[str, ...]:
        """QEMU's words for what its card `port` hangs on, called net0 or net1."""

    def remove(self) -> None:
        """Remove what a killed guest leaves of them. May be repeated."""


class VhostUserPorts:
    """Sockets on which the guest listens; the switch connects to them as vhost-user's client."""

    by = "virtio-user"
    backend = "vhost-user"
    mtu = 1500
    qemu_ring = _VHOST_USER_RING
    namespace = None
    mbuf_bytes = USUAL_MBUF_BYTES

    def __init__(self, sockets: tuple[Path, Path], ring_size: int) -> None:
        self._sockets = sockets
        self._ring_size = ring_size

    @property
    def needed(self) -> frozenset[int]:
        """Nothing in a directory of our own."""
        return needed_to_make(self._sockets[0])

    def devargs(self, port: int) -> str:
        """virtio-user as vhost-user's server."""
        path = self._sockets[port]
        return f"net_virtio_user{port},path={path},server=1,queues=1,queue_size={self._ring_size}"

    def qemu_netdev(self, port: int, *, accelerated: bool) -> tuple[str, ...]:
        """A socket of QEMU's."""
        return (
            *("-chardev", f"socket,id=port{port},path={self._sockets[port]},server=on,wait=off"),
            *("-netdev", f"vhost-user,id=net{port},chardev=port{port}"),
        )

    def remove(self) -> None:
        """The sockets."""
        for path in self._sockets:
            path.unlink(missing_ok=True)


def interface_mbuf_bytes(frame_size: int) -> int:
    """What an mbuf must have for packet sockets with frames of up to `frame_size` with FCS.

    The driver wants room for a whole buffer of its ring.
    """
    return by_packet_socket(GUEST_INTERFACES[0], 0, frame_size).buffer_bytes + _MBUF_HEADROOM


class InterfacePorts:
    """Interfaces of the kernel, in the namespace in which the guest's process lives."""

    by = "AF_PACKET"
    backend = "tap"
    qemu_ring = _TAP_RING

    def __init__(
        self, namespace: NetworkNamespace, interfaces: tuple[str, str], frame_size: int, mtu: int
    ) -> None:
        self._namespace = namespace
        self._interfaces = interfaces
        self._frame_size = frame_size
        self.mtu = mtu

    @property
    def namespace(self) -> Path:
        """Where the interfaces are."""
        return self._namespace.path

    @property
    def needed(self) -> frozenset[int]:
        """What a packet socket takes."""
        return needed_for(self.devargs(port) for port in PORTS)

    @property
    def mbuf_bytes(self) -> int:
        """For the longest frame."""
        return interface_mbuf_bytes(self._frame_size)

    def devargs(self, port: int) -> str:
        """A packet socket on the interface."""
        return by_packet_socket(self._interfaces[port], port, self._frame_size).devargs

    def qemu_netdev(self, port: int, *, accelerated: bool) -> tuple[str, ...]:
        """A tap that is there already; by vhost-net where the guest is not emulated."""
        vhost = "on" if accelerated and os.access(_VHOST_NET, os.R_OK | os.W_OK) else "off"
        name = self._interfaces[port]
        return (
            "-netdev",
            f"tap,id=net{port},ifname={name},script=no,downscript=no,vhost={vhost}",
        )

    def remove(self) -> None:
        """Nothing: they go with their namespace."""
