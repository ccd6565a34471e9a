"""The lab `macvlan`: two macvlan interfaces in bridge mode on one lower interface."""

from __future__ import annotations

import os
from typing import ClassVar, Literal

from plimsoll.dut.kernel.kernel_lab import KernelLab
from plimsoll.dut.kernel.settings import Forwarder, KernelSettings
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
    """

    summary: ClassVar[str] = "two macvlan interfaces in bridge mode on one cable; needs no NIC"
    kernel_features: ClassVar[tuple[str, ...]] = ("veth", "macvlan")
    kind: Literal["macvlan"] = "macvlan"
    driver: Literal["af_packet"] = "af_packet"
    macs: tuple[MacField, MacField] = ("02:00:00:00:00:01", "02:00:01:00:00:01")

    def forwarder(self) -> Forwarder:
        """The two interfaces."""
        return Macvlan(self.macs, self.driver)

    def make(self, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime) -> Lab:
        """The lab, not yet up."""
        return KernelLab(self, self.kind, ledger, self.forwarder())


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
            TesterPortSettings(
                netdev=self._hand_out(namespace, namespace.tester_end(port), mac, mtu),
                driver=self._driver,
            )
            for port, mac in enumerate(self._macs)
        )

    def rx_interfaces(self) -> tuple[str, ...]:
        """The lower interface, by whose receive path macvlan forwards."""
        return (_LOWER,)

    def counters(self, namespace: NetworkNamespace) -> tuple[LinkCounters, ...]:
        """macvlan's own, of its interfaces: what the tester sends is what they transmit."""
        return tuple(
            _turned_round(counters_of(namespace.tester_end(port)))
            for port, _ in enumerate(self._macs)
        )

    def facts(self, namespace: NetworkNamespace) -> dict[str, object]:
        """The lower interface, and what it dropped of both directions for want of room."""
        lower = namespace.link_counters()[_LOWER]
        return {
            "by": "macvlan in bridge mode",
            "macs": list(self._macs),
            "lower": {"name": _LOWER, "dropped": lower.rx_dropped},
        }

    def _hand_out(self, namespace: NetworkNamespace, name: str, mac: str, mtu: int) -> str:
        """Make one interface in the namespace and move it to the tester's, up and silent."""
        kind = "type macvlan mode bridge"
        namespace.batch(
            f"link add {name} link {_LOWER} address {mac} mtu {mtu} {kind}",
            f"link set {name} netns {os.getpid()}",
        )
        be_silent(name)
        ip_batch((f"link set {name} up",))
        return name


def _turned_round(tester: LinkCounters) -> LinkCounters:
    """As the DUT sees them: it takes in what the interface transmits."""
    return LinkCounters(
        rx_packets=tester.tx_packets,
        rx_dropped=tester.tx_dropped,
        rx_errors=tester.tx_errors,
        tx_packets=tester.rx_packets,
        tx_dropped=tester.rx_dropped,
        tx_errors=tester.rx_errors,
    )
