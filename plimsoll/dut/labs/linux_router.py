"""The lab `linux-router`: the kernel routes IPv4 and IPv6 between two cables."""

from __future__ import annotations

import platform
import time
from dataclasses import replace
from typing import ClassVar, Literal

from plimsoll.dut.kernel.flowtable import (
    FLOW_MEMORY_S,
    NFT,
    OPTIONS,
    Flowtable,
    check_flowtable,
    check_room,
)
from plimsoll.dut.kernel.kernel_lab import KernelLab
from plimsoll.dut.kernel.settings import (
    Forwarder,
    VlanSettings,
    WiredForwarder,
    add_vlan,
    forwarding_ports,
)
from plimsoll.dut.kernel.wiring import DUT_PORTS, Wiring
from plimsoll.dut.lab import Lab, LineRate
from plimsoll.dut.needs import LabNeeds
from plimsoll.dut.ports.tester_ports import TesterPortSettings
from plimsoll.dut.sight import SightEnd
from plimsoll.dut.two_ports import SHOWN_ROUTES, RoutedSettings, next_hop
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.network_namespace import NetworkNamespace
from plimsoll.host.processes.child import Lifetime

# With dynamic neighbours, by IP version and port: the router's own address, and its next hop,
# which is the tester's. Of the networks that are kept for documentation (RFC 5737 and 3849).
_LINKS: dict[int, tuple[tuple[str, str], ...]] = {
    4: (("192.0.2.1/25", "192.0.2.2"), ("192.0.2.129/25", "192.0.2.130")),
    6: (("2001:db8:0:1::1/64", "2001:db8:0:1::2"), ("2001:db8:0:2::1/64", "2001:db8:0:2::2")),
}


# On both links, for without one the kernel solicits no neighbour (ndisc_send_ns()).
_LINK_LOCAL = "fe80::1/64"


class LinuxRouterSettings(RoutedSettings, VlanSettings):
    """The kernel as a router.

    With `vlan` it routes between VLAN interfaces of that number: frames are tagged on both sides.
    Its neighbours, the tester's ports, are `static`, or found by ARP and neighbour discovery.
    Where they are `dynamic`, it has addresses of its own, and the `macs` are not used. With
    `flowtable` connection tracking knows each flow, and from its third frame on nftables' flowtable
    forwards it from one port to the other, past most of the stack.
    """

    summary: ClassVar[str] = "the Linux IPv4 and IPv6 router between two veth cables; needs no NIC"
    kernel_features: ClassVar[tuple[str, ...]] = ("veth", "IPv4 and IPv6 forwarding")
    kind: Literal["linux-router"] = "linux-router"
    neighbours: Literal["static", "dynamic"] = "static"
    flowtable: bool = False

    @classmethod
    def needs(cls) -> LabNeeds:
        """The same as any cable, and what a flowtable needs for `flowtable`."""
        needs = super().needs()
        return replace(
            needs,
            for_settings=(*needs.for_settings, *(("flowtable", option) for option in OPTIONS)),
            programs_of_settings=(("flowtable", NFT),),
        )

    @property
    def flow_memory_s(self) -> float | None:
        """That of connection tracking, which only a flowtable needs."""
        return FLOW_MEMORY_S if self.flowtable else None

    def check_flows(self, flows: int) -> None:
        """Whether connection tracking takes so many."""
        if self.flowtable:
            check_room(flows)

    def check_machine(self) -> LineRate:
        """The same as any cable, and whether there are flowtables if it is to have one."""
        if self.flowtable:
            check_flowtable("lab.flowtable")
        return super().check_machine()

    def forwarder(self, ledger: Ledger) -> Forwarder:
        """The router."""
        return LinuxRouter(self, self.wiring(ledger))

    def make(self, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime) -> Lab:
        """The lab, not yet up."""
        return KernelLab(self, self.kind, ledger, self.forwarder(ledger))


class LinuxRouter(WiredForwarder):
    """Routes to networks `[port]`, by way of one neighbour at each port."""

    def __init__(self, settings: LinuxRouterSettings, wiring: Wiring) -> None:
        super().__init__(wiring)
        self._settings = settings
        self._ports = forwarding_ports(settings.vlan)
        self._installed_in_s = 0.0
        self._dynamic = settings.neighbours == "dynamic"
        # Of VLAN interfaces the kernel finds the ports by itself.
        self._flowtable = Flowtable(DUT_PORTS) if settings.flowtable else None

    def build(self, namespace: NetworkNamespace, mtu: int) -> tuple[TesterPortSettings, ...]:
        """Lay the cables, forward, and say where everything is."""
        ends = self.wiring.lay(namespace, mtu)
        if not self._dynamic:
            namespace.batch(
                *(
                    f"link set {port} address {mac}"
                    for port, mac in zip(DUT_PORTS, self._settings.router_macs, strict=True)
                )
            )
        if self._settings.vlan is not None:
            add_vlan(namespace, self._settings.vlan, in_memory=self.wiring.in_memory)
        self._turn_on(namespace)
        namespace.batch(*(self._addresses() if self._dynamic else self._neighbours()))
        begin = time.monotonic()
        namespace.batch(*self._routes())
        self._installed_in_s = time.monotonic() - begin
        if self._flowtable is not None:
            self._flowtable.add(namespace)
        return ends

    def start_observation(self, namespace: NetworkNamespace) -> SightEnd:
        """What took which path, where there is a flowtable."""
        if self._flowtable is None:
            return super().start_observation(namespace)
        return self._flowtable.start_observation(namespace)

    def version(self) -> str | None:
        """The kernel, and the nftables that set its flowtable up."""
        if self._flowtable is None:
            return None
        return f"Linux {platform.release()}, flowtable by {self._flowtable.version()}"

    def facts(self, namespace: NetworkNamespace) -> dict[str, object]:
        """The routes and neighbours as the kernel has them; of many routes the first."""
        routes = [
            {"to": route["dst"], "via": route["gateway"], "port": route["dev"]}
            for version in self._settings.versions
            for route in namespace.objects(f"-{version}", "route", "show")
            if "gateway" in route
        ]
        self._settings.check_installed(len(routes))
        by_flowtable = (
            {"flowtable": self._flowtable.facts(namespace)} if self._flowtable is not None else {}
        )
        return {
            "by": f"Linux IP forwarding{', nftables flowtable' * bool(by_flowtable)}",
            "routes": routes[:SHOWN_ROUTES],
            "route_count": len(routes),
            "routes_installed_in_s": round(self._installed_in_s, 3),
            "neighbours": [
                {"address": each["dst"], "mac": each["lladdr"], "port": each["dev"]}
                for each in self._known_neighbours(namespace)
            ],
            **by_flowtable,
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

    def _known_neighbours(self, namespace: NetworkNamespace) -> list[dict[str, object]]:
        """Those that it was given, or by now has found."""
        if not self._dynamic:
            return namespace.objects("neighbour", "show", "nud", "permanent")
        found = namespace.objects("neighbour", "show")
        return [each for each in found if "lladdr" in each and each["dev"] in self._ports]

    def _addresses(self) -> tuple[str, ...]:
        return tuple(
            f"address add {address} dev {port}{' nodad' * (version == 6)}"
            for version in self._settings.versions
            for number, port in enumerate(self._ports)
            for address in (_LINKS[version][number][0], *([_LINK_LOCAL] * (version == 6)))
        )

    def _next_hop(self, version: int, number: int) -> str:
        return _LINKS[version][number][1] if self._dynamic else next_hop(version, number)

    def _neighbours(self) -> tuple[str, ...]:
        return tuple(
            f"neighbour add {next_hop(version, number)} lladdr {mac} dev {port} nud permanent"
            for version in self._settings.versions
            for number, (port, mac) in enumerate(zip(self._ports, self._settings.macs, strict=True))
        )

    def _routes(self) -> tuple[str, ...]:
        return tuple(
            f"route add {network} via {self._next_hop(network.version, number)} dev {port} onlink"
            for number, port in enumerate(self._ports)
            for network in self._settings.routed_to(number)
        )


LAB = LinuxRouterSettings
