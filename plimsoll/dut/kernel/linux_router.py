"""The lab `linux-router`: the kernel routes IPv4 and IPv6 between two cables."""

from __future__ import annotations

import time
from typing import ClassVar, Literal

from plimsoll.dut.kernel.cables import DUT_PORTS, lay_cables
from plimsoll.dut.kernel.kernel_lab import KernelLab
from plimsoll.dut.kernel.settings import Forwarder
from plimsoll.dut.kernel.vlan import VlanSettings, add_vlan, forwarding_ports
from plimsoll.dut.lab import Lab
from plimsoll.dut.routed import SHOWN_ROUTES, RoutedSettings, next_hop
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.network_namespace import NetworkNamespace
from plimsoll.host.processes.child import Lifetime


class LinuxRouterSettings(RoutedSettings, VlanSettings):
    """The kernel as a router.

    With `vlan` it routes between VLAN interfaces of that number: frames are tagged on both sides.
    """

    summary: ClassVar[str] = "the Linux IPv4 and IPv6 router between two veth cables; needs no NIC"
    kernel_features: ClassVar[tuple[str, ...]] = ("veth", "IPv4 and IPv6 forwarding")
    kind: Literal["linux-router"] = "linux-router"

    def forwarder(self) -> Forwarder:
        """The router."""
        return LinuxRouter(self)

    def make(self, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime) -> Lab:
        """The lab, not yet up."""
        return KernelLab(self, self.kind, ledger, self.forwarder())


class LinuxRouter(Forwarder):
    """Routes to networks `[port]`, by way of one neighbour at each port."""

    def __init__(self, settings: LinuxRouterSettings) -> None:
        self._settings = settings
        self._ports = forwarding_ports(settings.vlan)
        self._installed_in_s = 0.0

    def build(self, namespace: NetworkNamespace, mtu: int) -> tuple[str, ...]:
        """Lay the cables, forward, and say where everything is."""
        ends = lay_cables(namespace, mtu)
        namespace.batch(
            *(
                f"link set {port} address {mac}"
                for port, mac in zip(DUT_PORTS, self._settings.router_macs, strict=True)
            )
        )
        if self._settings.vlan is not None:
            add_vlan(namespace, self._settings.vlan)
        self._turn_on(namespace)
        namespace.batch(*self._neighbours())
        begin = time.monotonic()
        namespace.batch(*self._routes())
        self._installed_in_s = time.monotonic() - begin
        return ends

    def facts(self, namespace: NetworkNamespace) -> dict[str, object]:
        """The routes and neighbours as the kernel has them; of many routes the first."""
        routes = [
            {"to": route["dst"], "via": route["gateway"], "port": route["dev"]}
            for version in self._settings.versions
            for route in namespace.objects(f"-{version}", "route", "show")
            if "gateway" in route
        ]
        self._settings.check_installed(len(routes))
        return {
            "by": "Linux IP forwarding",
            "routes": routes[:SHOWN_ROUTES],
            "route_count": len(routes),
            "routes_installed_in_s": round(self._installed_in_s, 3),
            "neighbours": [
                {"address": each["dst"], "mac": each["lladdr"], "port": each["dev"]}
                for each in namespace.objects("neighbour", "show", "nud", "permanent")
            ],
        }

    def _turn_on(self, namespace: NetworkNamespace) -> None:
        """Forwarding, whatever the machine's defaults: without checks of the way back."""
        if 4 in self._settings.versions:
            ipv4 = "/proc/sys/net/ipv4"
            namespace.write("1", f"{ipv4}/ip_forward")
            # The kernel takes the greater of an interface's and all's.
            which = ("all", *self._ports)
            namespace.write("0", *(f"{ipv4}/conf/{each}/rp_filter" for each in which))
        if 6 in self._settings.versions:
            ipv6 = "/proc/sys/net/ipv6/conf"
            # Reports of its own groups go out at once, not in the midst of a trial.
            reports = "mldv2_unsolicited_report_interval"
            namespace.write("1", *(f"{ipv6}/{port}/{reports}" for port in self._ports))
            # Without an address of the link's there is neither DAD nor a solicitation.
            namespace.write("1", *(f"{ipv6}/{port}/addr_gen_mode" for port in self._ports))
            namespace.write("0", *(f"{ipv6}/{port}/router_solicitations" for port in self._ports))
            namespace.write("0", *(f"{ipv6}/{each}/disable_ipv6" for each in ("all", *self._ports)))
            namespace.write("1", f"{ipv6}/all/forwarding")

    def _neighbours(self) -> tuple[str, ...]:
        return tuple(
            f"neighbour add {next_hop(version, number)} lladdr {mac} dev {port} nud permanent"
            for version in self._settings.versions
            for number, (port, mac) in enumerate(zip(self._ports, self._settings.macs, strict=True))
        )

    def _routes(self) -> tuple[str, ...]:
        return tuple(
            f"route add {network} via {next_hop(network.version, number)} dev {port} onlink"
            for number, port in enumerate(self._ports)
            for network in self._settings.routed_to(number)
        )
