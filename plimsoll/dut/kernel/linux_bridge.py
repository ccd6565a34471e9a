"""The lab `linux-bridge`: the kernel's bridge between two cables."""

from __future__ import annotations

import time
from typing import ClassVar, Literal

from plimsoll.dut.kernel.cables import DUT_PORTS, lay_cables
from plimsoll.dut.kernel.kernel_lab import KernelLab
from plimsoll.dut.kernel.settings import Forwarder
from plimsoll.dut.kernel.vlan import VlanSettings, add_vlan, forwarding_ports
from plimsoll.dut.lab import Lab
from plimsoll.errors import MachineError
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.network_namespace import NetworkNamespace
from plimsoll.host.processes.child import Lifetime

_BRIDGE = "bridge0"
_BRIDGE_FACTS = ("stp_state", "ageing_time", "vlan_filtering")
_FORWARDING_TIMEOUT_S = 10.0
_POLL_S = 0.01


class LinuxBridgeSettings(VlanSettings):
    """The kernel's bridge of two ports, without spanning tree and multicast snooping.

    With `learning` off every frame is flooded, which between two ports is to forward it
    without a look into the forwarding database. With `vlan` its ports are VLAN interfaces of that
    number, so that it forwards frames with this tag alone, tagged on both sides.
    """

    summary: ClassVar[str] = "the Linux bridge between two veth cables; needs no NIC"
    kernel_features: ClassVar[tuple[str, ...]] = ("veth", "bridge")
    kind: Literal["linux-bridge"] = "linux-bridge"
    learning: bool = True

    def forwarder(self) -> Forwarder:
        """The bridge."""
        return LinuxBridge(learning=self.learning, vlan=self.vlan)

    def make(self, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime) -> Lab:
        """The lab, not yet up."""
        return KernelLab(self, self.kind, ledger, self.forwarder())


class LinuxBridge(Forwarder):
    """A bridge and its two ports."""

    def __init__(self, *, learning: bool, vlan: int | None = None) -> None:
        self._learning = learning
        self._vlan = vlan

    def build(self, namespace: NetworkNamespace, mtu: int) -> tuple[str, ...]:
        """Lay the cables, join their ends, and wait until the bridge forwards."""
        ends = lay_cables(namespace, mtu)
        if self._vlan is not None:
            add_vlan(namespace, self._vlan)
        ports = forwarding_ports(self._vlan)
        learning = "on" if self._learning else "off"
        namespace.batch(
            # Without delay, and without frames of its own: no spanning tree, no IGMP or MLD.
            f"link add {_BRIDGE} type bridge stp_state 0 forward_delay 0 mcast_snooping 0",
            *(f"link set {port} master {_BRIDGE}" for port in ports),
            *(f"link set {port} type bridge_slave learning {learning}" for port in ports),
            f"link set {_BRIDGE} up",
        )
        _wait_until_forwarding(namespace)
        return ends

    def facts(self, namespace: NetworkNamespace) -> dict[str, object]:
        """The bridge and its ports as the kernel has them."""
        (bridge,) = namespace.objects("link", "show", "dev", _BRIDGE)
        return {
            "by": "Linux bridge",
            "bridge": _link_data(bridge, "info_data", _BRIDGE_FACTS),
            "ports": {
                str(port["ifname"]): _link_data(port, "info_slave_data", ("state", "learning"))
                for port in _bridge_ports(namespace)
            },
        }


def _bridge_ports(namespace: NetworkNamespace) -> list[dict[str, object]]:
    return namespace.objects("link", "show", "master", _BRIDGE)


def _link_data(link: dict[str, object], which: str, names: tuple[str, ...]) -> dict[str, object]:
    info = link.get("linkinfo")
    data = info.get(which) if isinstance(info, dict) else None
    return {name: data.get(name) for name in names} if isinstance(data, dict) else {}


def _wait_until_forwarding(namespace: NetworkNamespace) -> None:
    deadline = time.monotonic() + _FORWARDING_TIMEOUT_S
    while True:
        ports = _bridge_ports(namespace)
        states = [_link_data(port, "info_slave_data", ("state",)).get("state") for port in ports]
        if states == ["forwarding"] * len(DUT_PORTS):
            return
        if time.monotonic() > deadline:
            raise MachineError(
                f"the bridge's ports are still {', '.join(map(str, states))}",
                where="lab",
                remedy="start it again on a less busy machine",
            )
        time.sleep(_POLL_S)
