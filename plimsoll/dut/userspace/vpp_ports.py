"""The two ports of VPP, memif's or cards: what it calls them, and how they are brought up."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from plimsoll.dut.two_ports import PORTS

# Number 0 is VPP's own, at a path of its choice. It names interfaces by both numbers.
_SOCKET_ID = 1
# Of L3: memif's by default, a card's at least; and what a frame has around it, FCS included.
_MEMIF_MTU, _CARD_MTU = 9000, 1500
_FRAMING_BYTES = 18

VppCommand = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VppPorts(ABC):
    """For frames of up to `frame_size` bytes with FCS, with the MAC addresses `macs`."""

    frame_size: int
    macs: tuple[str, ...]

    # As VPP lists its interfaces.
    names: ClassVar[tuple[str, ...]]
    # That drives them, and the package that has it.
    plugin: ClassVar[str]
    package: ClassVar[str]
    # Of 2 MB, that the plugin wants free on each memory node.
    hugepages: ClassVar[int]
    # Whether VPP lists them as it comes up; else `commands` makes them.
    opened_at_start: ClassVar[bool]

    @abstractmethod
    def sections(self, *, huge: bool) -> dict[str, str]:
        """Of the startup configuration; `huge` is whether there are hugepages."""

    @abstractmethod
    def commands(self) -> Iterator[VppCommand]:
        """The commands that set them and bring them up."""

    @property
    def _mtu(self) -> int:
        """What L3 has of the longest frame, in bytes."""
        return self.frame_size - _FRAMING_BYTES


@dataclass(frozen=True, slots=True)
class VppMemifPorts(VppPorts):
    """Two connections by one socket, with rings of `ring_frames` and buffers of `buffer_bytes`."""

    socket: Path
    ring_frames: int
    buffer_bytes: int

    names = tuple(f"memif{_SOCKET_ID}/{port}" for port in PORTS)
    plugin = "memif_plugin.so"
    package = "vpp-plugin-core"
    hugepages = 0
    opened_at_start = False

    def sections(self, *, huge: bool) -> dict[str, str]:
        """None."""
        return {}

    def commands(self) -> Iterator[VppCommand]:
        """First the socket, whose server VPP is."""
        socket_id = ("socket-id", str(_SOCKET_ID))
        yield ("create", "memif", "socket", "id", str(_SOCKET_ID), "filename", str(self.socket))
        for port, name in enumerate(self.names):
            buffers = ("ring-size", str(self.ring_frames), "buffer-size", str(self.buffer_bytes))
            yield (
                *("create", "interface", "memif", "id", str(port), *socket_id, "master"),
                *(*buffers, "hw-addr", self.macs[port]),
            )
            yield ("set", "interface", "mtu", "packet", str(max(_MEMIF_MTU, self._mtu)), name)
            yield ("set", "interface", "state", name, "up")


@dataclass(frozen=True, slots=True)
class VppCardPorts(VppPorts):
    """Cards by their PCI addresses, which VPP's DPDK opens."""

    addresses: tuple[str, ...]

    names = tuple(f"port{port}" for port in PORTS)
    plugin = "dpdk_plugin.so"
    package = "vpp-plugin-dpdk"
    # dpdk_config of dpdk/device/init.c.
    hugepages = 8
    opened_at_start = True

    def sections(self, *, huge: bool) -> dict[str, str]:
        """These cards and no others, each with one queue, which the worker polls.

        A driver is named so that VPP as root looks for none, which might turn on vfio's mode
        without IOMMU; it leaves a card that a driver for user space has already.
        """
        devices = (
            f"dev {address} {{ name {name} num-rx-queues 1 }}"
            for address, name in zip(self.addresses, self.names, strict=True)
        )
        ordinary = () if huge else ("no-hugetlb", "no-shconf")
        return {"dpdk": " ".join((*devices, "uio-driver vfio-pci", *ordinary))}

    def commands(self) -> Iterator[VppCommand]:
        """The MTU is the card's own, so that one that takes no such frames is refused."""
        for name, mac in zip(self.names, self.macs, strict=True):
            yield ("set", "interface", "mac", "address", name, mac)
            yield ("set", "interface", "mtu", str(max(_CARD_MTU, self._mtu)), name)
            yield ("set", "interface", "state", name, "up")
