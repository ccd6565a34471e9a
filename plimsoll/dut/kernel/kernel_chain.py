"""Guests of a switch whose ports are the kernel's interfaces: the links to them, and the hops.

The switch and its ports lie in the lab's namespace. A namespace and a testpmd have one of their
own, cabled to it by two veth pairs; a virtual machine's cards are two taps there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from plimsoll.dut.guest.chain import (
    ChainSettings,
    GuestKind,
    chain_hops,
    guest_ports,
    sharing_note,
    switch_ports,
)
from plimsoll.dut.guest.guest import Guest, GuestPlace, Guests
from plimsoll.dut.guest.guest_ports import (
    GUEST_INTERFACES,
    GuestPorts,
    InterfacePorts,
    interface_mbuf_bytes,
)
from plimsoll.dut.guest.namespace_guest import NamespaceGuest
from plimsoll.dut.kernel.settings import WiredSettings
from plimsoll.dut.kernel.wiring import DUT_PORTS
from plimsoll.dut.lab import LineRate
from plimsoll.dut.needs import LabNeeds, NeededProgram, check_option
from plimsoll.dut.sight import Hop
from plimsoll.host.kernel_options import KernelOption
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.network_namespace import LinkCounters, NetworkNamespace
from plimsoll.host.processes.child import Lifetime

_TAP_OPTION = KernelOption("TUN", "tun", "tap interfaces")
_NSENTER = NeededProgram("nsenter", "util-linux")


class KernelChainSettings(ChainSettings, WiredSettings):
    """A switch in the kernel's namespace that frames may pass by way of guests."""

    guest: GuestKind = "namespace"

    @classmethod
    def needs(cls) -> LabNeeds:
        """The same as any cable, and what guests of each kind need."""
        return replace(
            super().needs(),
            programs_of_settings=cls.programs_of_guests,
            loops_of_settings=(
                ("chain: pvp with guest: testpmd", 2),
                ("chain: pvvp with guest: testpmd", 3),
            ),
        )

    @property
    def megabytes(self) -> int:
        """The guests' alone: the switch takes no packet memory."""
        return self.guest_megabytes

    @property
    def guest_mbuf_bytes(self) -> int:
        """Of an mbuf in a testpmd, for the longest frame."""
        return interface_mbuf_bytes(self.frame_size)

    @property
    def polled_cpus(self) -> tuple[tuple[str, int], ...]:
        """Those on which the switch and the guests forward, each once."""
        places = dict.fromkeys(self.cpus_of_guests, "lab.guest_cpus") | {self.cpu: "lab.cpu"}
        return tuple((place, cpu) for cpu, place in sorted(places.items()))

    def check_machine(self) -> LineRate:
        """The same as any cable, and whether the guests can be had."""
        self.check_guests_can_start()
        if self.chain != "p2p" and self.guest == "vm":
            check_option(_TAP_OPTION, "lab.guest")
        if self.chain != "p2p" and self.guest != "namespace":
            _NSENTER.find()
        return super().check_machine()

    def guest_ports(self, ledger: Ledger, place: GuestPlace) -> GuestPorts:
        """Taps among the switch's ports, or the far ends of its cables."""
        space, names = ledger.namespace, guest_ports(place.number)
        if self.guest != "vm":
            space, names = space.guest(place.name), GUEST_INTERFACES
        return InterfacePorts(space, names, self.frame_size, self.mtu)

    def make_chain(self, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime) -> KernelChain:
        """The guests with the links to them, none of it there yet."""
        return KernelChain(self, self.make_guests(ledger, memory, lifetime))

    def _guest(
        self, place: GuestPlace, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime
    ) -> Guest:
        if self.guest == "namespace":
            return NamespaceGuest(place, ledger.namespace.guest(place.name))
        return super()._guest(place, ledger, memory, lifetime)


class KernelChain:
    """The switch's `ports` in the order of the chain, and its `guests`, if there are any."""

    def __init__(self, settings: KernelChainSettings, guests: Guests) -> None:
        self.ports = switch_ports(settings.chain)
        self.guests = guests
        self._settings = settings

    def lay_links(self, namespace: NetworkNamespace, mtu: int) -> None:
        """Make the switch's ports to the guests, up. Raises MachineError."""
        for number, _ in enumerate(self._settings.cpus_of_guests):
            names = guest_ports(number)
            if self._settings.guest == "vm":
                for name in names:
                    namespace.tap(name, mtu)
                continue
            space = namespace.guest(GuestPlace(number, self._settings.cpu).name)
            space.create()
            for name, interface in zip(names, GUEST_INTERFACES, strict=True):
                namespace.cable_between(name, space, interface, mtu)

    def hops(self, namespace: NetworkNamespace, ends: Sequence[LinkCounters]) -> tuple[Hop, ...]:
        """Every point that frames pass; `ends` are the counters of the tester's ports.

        What a guest had no room for left the switch: its port counts it as dropped
        (NetworkNamespace.cable_between; a tap does the same). None without guests.
        """
        if not self.guests:
            return ()
        inside = namespace.link_counters()
        counted = dict(zip(DUT_PORTS, ends, strict=True)) | {
            name: replace(link, tx_packets=link.tx_packets + link.tx_dropped)
            for name, link in inside.items()
            if name not in DUT_PORTS
        }
        into = {name: counted[name].rx_packets for name in self.ports}
        out_of = {name: counted[name].tx_packets for name in self.ports}
        return chain_hops(self.ports, into, out_of, self.guests.counts())

    def notes(self) -> tuple[str, ...]:
        """What a record of its trials must say about the guests."""
        polling = self._settings.cpus_guests_poll
        shared = sharing_note((self._settings.cpu, *polling)) if polling else None
        return (*((shared,) if shared else ()), *self.guests.notes())

    def facts(self) -> dict[str, object]:
        """Of the guests; nothing without any."""
        return {"guests": self.guests.facts()} if self.guests else {}
