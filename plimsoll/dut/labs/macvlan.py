"""The lab `macvlan`: macvlan interfaces in bridge mode on one lower interface."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import ClassVar, Literal

from plimsoll.dut.cards import KernelCard
from plimsoll.dut.kernel.kernel_lab import KernelLab
from plimsoll.dut.kernel.settings import Forwarder, KernelSettings, WiredForwarder
from plimsoll.dut.kernel.wiring import CardWiring
from plimsoll.dut.lab import Lab
from plimsoll.dut.ports.netdev import NetdevDriver
from plimsoll.dut.ports.tester_ports import TesterPortSettings
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.ip_command import ip_batch
from plimsoll.host.namespaces.network_namespace import (
    LinkCounters,
    NetworkNamespace,
    be_silent,
    counters_of,
)
from plimsoll.host.processes.child import Lifetime
from plimsoll.traffic.frames.addresses import MacField

_LOWER, _LOWER_PEER = "lower0", "lower1"


class MacvlanSettings(KernelSettings):
    """Two macvlan interfaces of one lower interface, in bridge mode, as the tester's ports.

    macvlan learns nothing: it forwards by the addresses of its interfaces, so `macs`, by port,
    must be those that the profile's frames go to, and no flow may vary its MAC. The defaults are
    those of a profile's streams. What goes elsewhere leaves by the lower interface, and is lost.
    The tester opens them by AF_PACKET: DPDK's AF_XDP driver wants a program in native mode.

    With `cards` the lower interface is a network card, the tester's port 0 is what that is cabled
    to, and port 1 the one macvlan interface on it, whose address is the second of `macs`: each
    frame passes macvlan once, as those of a pod do.
    """

    summary: ClassVar[str] = "two macvlan interfaces in bridge mode on one cable; needs no NIC"
    kernel_features: ClassVar[tuple[str, ...]] = ("veth", "macvlan")
    kind: Literal["macvlan"] = "macvlan"
    driver: Literal["af_packet"] = "af_packet"
    macs: tuple[MacField, MacField] = ("02:00:00:00:00:01", "02:00:01:00:00:01")
    cards: KernelCard | None = None

    @property
    def lent_cards(self) -> KernelCard | None:
        """The lower interface."""
        return self.cards

    def forwarder(self, ledger: Ledger) -> Forwarder:
        """The two interfaces, or the one on a card."""
        if self.cards is None:
            return Macvlan(self.macs, self.driver)
        wiring = CardWiring(self.cards, self.cpu, ledger)
        return MacvlanOnCard(wiring, self.macs[1], self.driver)

    def make(self, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime) -> Lab:
        """The lab, not yet up."""
        return KernelLab(self, self.kind, ledger, self.forwarder(ledger))


class Macvlan(Forwarder):
    """Interfaces with the addresses `macs`, on a cable that ends in the namespace."""

    def __init__(self, macs: tuple[str, ...], driver: NetdevDriver) -> None:
        self._macs = macs
        self._driver: NetdevDriver = driver

    def build(self, namespace: NetworkNamespace, mtu: int) -> tuple[TesterPortSettings, ...]:
        """Make the lower interface, and on it those that are handed to the tester."""
        namespace.batch(
            f"link add {_LOWER} mtu {mtu} type veth peer name {_LOWER_PEER} mtu {mtu}",
            f"link set {_LOWER} up",
            f"link set {_LOWER_PEER} up",
        )
        return tuple(
            _handed_out(namespace, port, mac, mtu, self._driver)
            for port, mac in enumerate(self._macs)
        )

    def rx_interfaces(self) -> tuple[str, ...]:
        """The lower interface, by whose receive path macvlan forwards."""
        return (_LOWER,)

    def counters(self, namespace: NetworkNamespace) -> tuple[LinkCounters, ...]:
        """macvlan's own, of its interfaces: what the tester sends is what they transmit."""
        return tuple(_counted(namespace, port) for port, _ in enumerate(self._macs))

    def facts(self, namespace: NetworkNamespace) -> dict[str, object]:
        """The lower interface, and what it dropped of both directions for want of room."""
        return _facts(namespace, self._macs)


class MacvlanOnCard(WiredForwarder):
    """An interface with the address `mac` as the tester's port 1, on a card cabled to port 0."""

    def __init__(self, wiring: CardWiring, mac: str, driver: NetdevDriver) -> None:
        super().__init__(wiring)
        self._mac = mac
        self._driver: NetdevDriver = driver

    def build(self, namespace: NetworkNamespace, mtu: int) -> tuple[TesterPortSettings, ...]:
        """Borrow the card, and make the interface that is handed to the tester."""
        ends = self.wiring.lay(namespace, mtu, (_LOWER,))
        return (*ends, _handed_out(namespace, len(ends), self._mac, mtu, self._driver))

    def rx_interfaces(self) -> tuple[str, ...]:
        """The card."""
        return (_LOWER,)

    def counters(self, namespace: NetworkNamespace) -> tuple[LinkCounters, ...]:
        """The card's, and macvlan's own."""
        return (*self.wiring.counters(namespace), _counted(namespace, 1))

    def facts(self, namespace: NetworkNamespace) -> dict[str, object]:
        """The card, and what it dropped for want of room."""
        return _facts(namespace, (self._mac,))


def _handed_out(
    namespace: NetworkNamespace, port: int, mac: str, mtu: int, driver: NetdevDriver
) -> TesterPortSettings:
    """Make one interface in the namespace and move it to the tester's, up and silent."""
    name = namespace.tester_end(port)
    kind = "type macvlan mode bridge"
    namespace.batch(
        f"link add {name} link {_LOWER} address {mac} mtu {mtu} {kind}",
        f"link set {name} netns {os.getpid()}",
    )
    be_silent(name)
    ip_batch((f"link set {name} up",))
    return TesterPortSettings(netdev=name, driver=driver)


def _facts(namespace: NetworkNamespace, macs: Sequence[str]) -> dict[str, object]:
    return {
        "by": "macvlan in bridge mode",
        "macs": list(macs),
        "lower": {"name": _LOWER, "dropped": namespace.link_counters()[_LOWER].rx_dropped},
    }


def _counted(namespace: NetworkNamespace, port: int) -> LinkCounters:
    """As the DUT sees it: it takes in what the interface transmits."""
    tester = counters_of(namespace.tester_end(port))
    return LinkCounters(
        rx_packets=tester.tx_packets,
        rx_dropped=tester.tx_dropped,
        rx_errors=tester.tx_errors,
        tx_packets=tester.rx_packets,
        tx_dropped=tester.rx_dropped,
        tx_errors=tester.rx_errors,
    )


LAB = MacvlanSettings
