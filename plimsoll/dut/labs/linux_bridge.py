"""The lab `linux-bridge`: the kernel's bridge between two cables, or a bridge for each link."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from plimsoll.dut.guest.chain import joined
from plimsoll.dut.kernel.kernel_chain import KernelChain, KernelChainSettings
from plimsoll.dut.kernel.kernel_lab import KernelLab
from plimsoll.dut.kernel.settings import VlanSettings, WiredForwarder, add_vlan, forwarding_ports
from plimsoll.dut.kernel.wiring import DUT_PORTS, Wiring
from plimsoll.dut.lab import DutProcess, Lab
from plimsoll.dut.ports.tester_ports import TesterPortSettings
from plimsoll.dut.sight import Hop
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.network_namespace import (
    NetworkNamespace,
    add_bridge,
    bridge_facts,
    wait_until_forwarding,
)
from plimsoll.host.processes.child import Lifetime


class LinuxBridgeSettings(KernelChainSettings, VlanSettings):
    """The kernel's bridge of two ports, without spanning tree and multicast snooping.

    With `learning` off every frame is flooded, which between two ports is to forward it
    without a look into the forwarding database. With `vlan` its ports are VLAN interfaces of that
    number, so that it forwards frames with this tag alone, tagged on both sides. A chain with
    guests has a bridge for each of its links: one bridge of all ports would pass frames by the
    guests, and be a loop.
    """

    summary: ClassVar[str] = "the Linux bridge between two veth cables; needs no NIC"
    kernel_features: ClassVar[tuple[str, ...]] = ("veth", "bridge")
    kind: Literal["linux-bridge"] = "linux-bridge"
    learning: bool = True

    def make(self, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime) -> Lab:
        """The lab, not yet up."""
        chain = self.make_chain(ledger, memory, lifetime)
        wiring = self.wiring(ledger)
        bridge = LinuxBridge(wiring, chain, learning=self.learning, vlan=self.vlan)
        return KernelLab(self, self.kind, ledger, bridge)


class LinuxBridge(WiredForwarder):
    """A bridge of two ports for each link of a chain."""

    def __init__(
        self, wiring: Wiring, chain: KernelChain, *, learning: bool, vlan: int | None = None
    ) -> None:
        super().__init__(wiring)
        self._chain = chain
        self._learning = learning
        self._vlan = vlan

    def build(self, namespace: NetworkNamespace, mtu: int) -> tuple[TesterPortSettings, ...]:
        """Lay cables and links, join them by twos, and wait until all of it forwards."""
        ends = self.wiring.lay(namespace, mtu)
        if self._vlan is not None:
            add_vlan(namespace, self._vlan, in_memory=self.wiring.in_memory)
        self._chain.lay_links(namespace, mtu)
        for name, ports in self._bridges():
            add_bridge(namespace, name, ports, learning=self._learning)
        # A tap has its carrier, without which no bridge forwards, of who opens it.
        self._chain.guests.start()
        if self.wiring.in_memory:
            self._wait_until_forwarding(namespace)
        self._chain.guests.wait_ready()
        return ends

    def wait_links(self, namespace: NetworkNamespace, timeout_s: float) -> None:
        """Return once its ports have links, and forward."""
        super().wait_links(namespace, timeout_s)
        self._wait_until_forwarding(namespace)

    def rx_interfaces(self) -> tuple[str, ...]:
        """All ports of all bridges."""
        return self._chain.ports

    def hops(self, namespace: NetworkNamespace) -> tuple[Hop, ...]:
        """Of a chain with guests."""
        return self._chain.hops(namespace, self.counters(namespace))

    def notes(self) -> tuple[str, ...]:
        """Of the guests."""
        return self._chain.notes()

    def facts(self, namespace: NetworkNamespace) -> dict[str, object]:
        """The bridges and their ports as the kernel has them, and the guests."""
        bridges = {name: bridge_facts(namespace, name) for name, _ in self._bridges()}
        return {"by": "Linux bridge", "bridges": bridges, **self._chain.facts()}

    def check(self) -> None:
        """Raise LabDied if a guest has ended."""
        self._chain.guests.check()

    def processes(self) -> tuple[DutProcess, ...]:
        """The guests'."""
        return self._chain.guests.processes()

    def stop(self) -> None:
        """End the guests."""
        self._chain.guests.stop()

    def _wait_until_forwarding(self, namespace: NetworkNamespace) -> None:
        for name, _ in self._bridges():
            wait_until_forwarding(namespace, name)

    def _bridges(self) -> Iterator[tuple[str, tuple[str, str]]]:
        named = dict(zip(DUT_PORTS, forwarding_ports(self._vlan), strict=True))
        for number, pair in enumerate(joined(self._chain.ports)):
            one, other = (named.get(port, port) for port in pair)
            yield f"bridge{number}", (one, other)


LAB = LinuxBridgeSettings
