"""The lab `linux-router`: the kernel routes IPv4 and IPv6 between two cables."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from plimsoll.dut.kernel.cables import DUT_PORTS, cable_counters, lay_cables
from plimsoll.dut.kernel.kernel_lab import KernelLab
from plimsoll.dut.kernel.settings import Forwarder
from plimsoll.dut.kernel.vlan import VlanSettings, add_vlan, forwarding_ports
from plimsoll.dut.lab import Lab
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.network_namespace import LinkCounters, NetworkNamespace
from plimsoll.host.processes.child import Lifetime
from plimsoll.text.mistakes import mistake
from plimsoll.traffic.frames.addresses import MacField

# The hosts behind either port, as next hops: of RFC 5737's documentation network, and of
# the link. The router itself has no address, and so has nothing to say of its own.
_NEXT_HOPS = {4: ("192.0.2.1", "192.0.2.2"), 6: ("fe80::1", "fe80::2")}

Network = IPv4Network | IPv6Network


def _network(given: object) -> object:
    try:
        return ip_network(str(given))
    except ValueError as error:
        raise mistake(f"{given!r} is not a network: {error}", "write 198.18.0.0/16") from None


Networks = Annotated[
    tuple[Annotated[Network, BeforeValidator(_network)], ...], Field(min_length=1, max_length=64)
]


class LinuxRouterSettings(VlanSettings):
    """The kernel as a router with a static route to each of `networks`, and static neighbours.

    `networks` are those behind port 0 and behind port 1; the defaults are those of a
    profile's streams: RFC 2544's and RFC 5180's addresses for benchmarks. `macs` are the
    addresses of the tester's ports. The router's port 0 has that of the tester's port 1, and
    its port 1 that of port 0, because a stream's frames go from the one to the other. With `vlan`
    it routes between VLAN interfaces of that number: frames are tagged on both sides.
    """

    summary: ClassVar[str] = "the Linux IPv4 and IPv6 router between two veth cables; needs no NIC"
    kernel_features: ClassVar[tuple[str, ...]] = ("veth", "IPv4 and IPv6 forwarding")
    kind: Literal["linux-router"] = "linux-router"
    networks: tuple[Networks, Networks] = (
        (IPv4Network("198.18.0.0/16"), IPv6Network("2001:2:0:1::/64")),
        (IPv4Network("198.19.0.0/16"), IPv6Network("2001:2:0:2::/64")),
    )
    macs: tuple[MacField, MacField] = ("02:00:00:00:00:01", "02:00:01:00:00:01")

    def forwarder(self) -> Forwarder:
        """The router."""
        return LinuxRouter(self.networks, self.macs, self.vlan)

    def make(self, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime) -> Lab:
        """The lab, not yet up."""
        return KernelLab(self, self.kind, ledger, self.forwarder())


class LinuxRouter(Forwarder):
    """Routes to networks `[port]`, by way of one neighbour at each port."""

    def __init__(
        self,
        networks: tuple[tuple[Network, ...], ...],
        macs: tuple[str, ...],
        vlan: int | None = None,
    ) -> None:
        self._networks = networks
        self._macs = macs
        self._vlan = vlan
        self._ports = forwarding_ports(vlan)

    def build(self, namespace: NetworkNamespace, mtu: int) -> tuple[str, ...]:
        """Lay the cables, forward, and say where everything is."""
        ends = lay_cables(namespace, mtu)
        namespace.batch(
            *(
                f"link set {port} address {mac}"
                for port, mac in zip(DUT_PORTS, reversed(self._macs), strict=True)
            )
        )
        if self._vlan is not None:
            add_vlan(namespace, self._vlan)
        self._turn_on(namespace)
        namespace.batch(*self._neighbours(), *self._routes())
        return ends

    def rx_interfaces(self) -> tuple[str, ...]:
        """Both ports."""
        return DUT_PORTS

    def counters(self, namespace: NetworkNamespace) -> tuple[LinkCounters, ...]:
        """Of its ports."""
        return cable_counters(namespace)

    def facts(self, namespace: NetworkNamespace) -> dict[str, object]:
        """The routes and neighbours as the kernel has them."""
        return {
            "by": "Linux IP forwarding",
            "routes": [
                {"to": route["dst"], "via": route["gateway"], "port": route["dev"]}
                for version in self._versions
                for route in namespace.objects(f"-{version}", "route", "show")
                if "gateway" in route
            ],
            "neighbours": [
                {"address": each["dst"], "mac": each["lladdr"], "port": each["dev"]}
                for each in namespace.objects("neighbour", "show", "nud", "permanent")
            ],
        }

    @property
    def _versions(self) -> tuple[int, ...]:
        return tuple(sorted({each.version for some in self._networks for each in some}))

    def _turn_on(self, namespace: NetworkNamespace) -> None:
        """Forwarding, whatever the machine's defaults: without checks of the way back."""
        if 4 in self._versions:
            ipv4 = "/proc/sys/net/ipv4"
            namespace.write("1", f"{ipv4}/ip_forward")
            # The kernel takes the greater of an interface's and all's.
            which = ("all", *self._ports)
            namespace.write("0", *(f"{ipv4}/conf/{each}/rp_filter" for each in which))
        if 6 in self._versions:
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
            f"neighbour add {_NEXT_HOPS[version][number]} lladdr {mac} dev {port} nud permanent"
            for version in self._versions
            for number, (port, mac) in enumerate(zip(self._ports, self._macs, strict=True))
        )

    def _routes(self) -> tuple[str, ...]:
        return tuple(
            f"route add {network} via {_NEXT_HOPS[network.version][number]} dev {port} onlink"
            for number, port in enumerate(self._ports)
            for network in self._networks[number]
        )
