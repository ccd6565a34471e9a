"""A VXLAN tunnel that a lab's Open vSwitch ends: port 0 lies inside of it, port 1 outside."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, StrictInt, model_validator

from plimsoll.dut.ovs.figures import Datapath
from plimsoll.dut.ovs.instance import OvsInstance
from plimsoll.dut.ovs.rules import rules_of
from plimsoll.dut.ovs.switch import PORTS, build_bridge
from plimsoll.errors import MachineError
from plimsoll.host.namespaces.network_namespace import NetworkNamespace
from plimsoll.host.processes.child import wait_until
from plimsoll.text.mistakes import mistake
from plimsoll.traffic.frames.addresses import MacField

# Where encapsulated frames come and go. Its own interface has the tunnel's address.
UNDERLAY = "plimsoll1"
TUNNEL = "vxlan0"
# Outer Ethernet, IPv4 and UDP, and VXLAN's own 8 bytes (RFC 7348).
VXLAN_BYTES = 14 + 20 + 8 + 8
_TAG_BYTES = 4
UDP_PORT = 4789
# The longest that Open vSwitch takes; by itself it forgets a neighbour after 15 min.
_NEIGHBOUR_S = 3600
_ROUTE_TIMEOUT_S = 20.0
_POLL_S = 0.05
# One of the underlay's rules: its packets, and where they came from.
_COUNTED = re.compile(r"n_packets=(\d+),.*\bin_port=\"?([^ ,\"]+)\"?[^ ]* actions=(\S+)")


class VxlanTunnel(BaseModel):
    """What is put around frames of port 0, and must be around those that come in at port 1.

    `local_ip` and `local_mac` are the switch's, `remote_ip` and `remote_mac` the tester's; the
    defaults are those of a stream's `vxlan`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    vni: Annotated[StrictInt, Field(ge=0, le=2**24 - 1)]
    local_ip: IPv4Address = IPv4Address("10.0.0.1")
    remote_ip: IPv4Address = IPv4Address("10.1.0.1")
    local_mac: MacField = "02:00:02:00:00:01"
    remote_mac: MacField = "02:00:03:00:00:01"

    @model_validator(mode="after")
    def _ends_are_two(self) -> Self:
        if self.local_ip == self.remote_ip:
            remedy = "give the tester's end an address of its own"
            raise mistake(f"both ends have {self.local_ip}", remedy, "remote_ip")
        if not self.address.network.prefixlen:
            problem = f"{self.remote_ip} and {self.local_ip} are in no network together"
            remedy = "give addresses of which the first bit is the same, such as 10.1.0.1"
            raise mistake(problem, remedy, "remote_ip")
        return self

    @property
    def address(self) -> IPv4Interface:
        """The switch's, in the least network that holds both ends: a way to the tester's."""
        differing = int(self.local_ip) ^ int(self.remote_ip)
        return IPv4Interface(f"{self.local_ip}/{32 - differing.bit_length()}")


@dataclass(frozen=True, slots=True)
class OuterCounts:
    """Frames that came in at port 1, for the tunnel or not, and that the tunnel put out of it."""

    into: int
    out_of: int


def build_tunnel(
    switch: OvsInstance,
    namespace: NetworkNamespace,
    tunnel: VxlanTunnel,
    interfaces: Mapping[str, Sequence[str]],
) -> None:
    """Make both bridges in userspace, the tunnel between them, its address and neighbour.

    The lab's bridge has port 0 and the tunnel as OpenFlow's ports 1 and 2, without rules; the
    other one leads what is the tunnel's of port 1 into it, and all of the tunnel out of port 1.
    `interfaces` has the settings of the lab's two ports. Raises MachineError where the switch
    does not take a part of it.
    """
    _build_bridges(switch, namespace, tunnel, interfaces, "netdev")
    switch.ask("tnl/neigh/aging", str(_NEIGHBOUR_S))
    switch.ask("tnl/neigh/set", UNDERLAY, str(tunnel.remote_ip), tunnel.remote_mac)
    _wait_for_route(switch, tunnel)


def build_kernel_tunnel(
    switch: OvsInstance,
    namespace: NetworkNamespace,
    tunnel: VxlanTunnel,
    interfaces: Mapping[str, Sequence[str]],
    mtu: int,
) -> None:
    """The same of the kernel's datapath, whose packets the kernel encapsulates, routes and takes.

    `mtu` is that of port 1; the underlay's own interface would have 1500, which is kept to here.
    """
    _build_bridges(switch, namespace, tunnel, interfaces, "system")
    switch.configure("set", "Interface", UNDERLAY, f"mtu_request={mtu}")
    neighbour = f"{tunnel.remote_ip} lladdr {tunnel.remote_mac} dev {UNDERLAY}"
    namespace.batch(f"neighbour add {neighbour} nud permanent")


def _build_bridges(
    switch: OvsInstance,
    namespace: NetworkNamespace,
    tunnel: VxlanTunnel,
    interfaces: Mapping[str, Sequence[str]],
    datapath: Datapath,
) -> None:
    options = {
        "key": tunnel.vni,
        "local_ip": tunnel.local_ip,
        "remote_ip": tunnel.remote_ip,
        "dst_port": UDP_PORT,
    }
    settings = ("type=vxlan", *(f"options:{name}={value}" for name, value in options.items()))
    build_bridge(switch, {PORTS[1]: interfaces[PORTS[1]]}, datapath, UNDERLAY)
    # By it and the address the switch knows the tunnel's packets.
    switch.configure("set", "Bridge", UNDERLAY, f'other_config:hwaddr="{tunnel.local_mac}"')
    build_bridge(switch, {PORTS[0]: interfaces[PORTS[0]], TUNNEL: settings}, datapath)
    switch.add_rules(outer_rules(tunnel), UNDERLAY)
    namespace.batch(
        f"link set {UNDERLAY} up",
        # No answer of the kernel's is to be among the frames.
        f"link set {UNDERLAY} arp off",
        f"addr add {tunnel.address} dev {UNDERLAY}",
    )


def bytes_added(tags: Sequence[int], *, tunnelled: bool) -> int:
    """To a frame from port 0: by VLAN tags, and by the tunnel."""
    return _TAG_BYTES * len(tags) + VXLAN_BYTES * tunnelled


def outer_rules(tunnel: VxlanTunnel) -> tuple[str, ...]:
    """Of the underlay: what is not the tunnel's is dropped, and counted."""
    ours = f"udp,nw_dst={tunnel.local_ip},dl_dst={tunnel.local_mac},tp_dst={UDP_PORT}"
    return (
        f"priority=2,in_port=1,{ours},actions=LOCAL",
        "priority=1,in_port=1,actions=drop",
        f"priority=2,in_port=LOCAL,udp,tp_dst={UDP_PORT},actions=output:1",
    )


def outer_counts(switch: OvsInstance) -> OuterCounts:
    """By the underlay's rules, of which the datapath tells now and then; `revalidator/wait` first.

    Raises MachineError where they cannot be read.
    """
    return read_outer_counts(switch.openflow("dump-flows", bridge=UNDERLAY))


def read_outer_counts(text: str) -> OuterCounts:
    """What `ovs-ofctl dump-flows` prints of the underlay."""
    counted = [(int(frames), port) for frames, port, _ in _COUNTED.findall(text)]
    return OuterCounts(
        into=sum(frames for frames, port in counted if port != "LOCAL"),
        out_of=sum(frames for frames, port in counted if port == "LOCAL"),
    )


def kernel_tunnel_facts(switch: OvsInstance, namespace: NetworkNamespace) -> dict[str, object]:
    """The tunnel as the switch and the kernel have it, read back."""
    of_underlay = ("show", "dev", UNDERLAY)
    return {
        "interface": _column(switch, TUNNEL, "options"),
        "routes": [str(each["dst"]) for each in namespace.objects("route", *of_underlay)],
        "neighbours": [
            f"{each['dst']} {each['lladdr']}"
            for each in namespace.objects("neighbour", *of_underlay, "nud", "permanent")
        ],
        "outer_rules": list(rules_of(switch, UNDERLAY)),
    }


def tunnel_facts(switch: OvsInstance) -> dict[str, object]:
    """The tunnel as a switch in userspace has it, read back."""
    return {
        "interface": _column(switch, TUNNEL, "options"),
        "terminated": _lines(switch.ask("tnl/ports/show", "-v")),
        "routes": _lines(switch.ask("ovs/route/show")),
        "neighbours": _lines(switch.ask("tnl/neigh/show")),
        "outer_rules": list(rules_of(switch, UNDERLAY)),
    }


def _wait_for_route(switch: OvsInstance, tunnel: VxlanTunnel) -> None:
    """Until the switch has heard of the kernel's route, and ends the tunnel at its address."""

    def there() -> bool:
        routes = switch.ask("ovs/route/show")
        ends = switch.ask("tnl/ports/show", "-v")
        way = f"{tunnel.address.network} dev {UNDERLAY}"
        return way in routes and f"ipv4(dst={tunnel.local_ip}," in ends

    if not wait_until(there, _ROUTE_TIMEOUT_S, every_s=_POLL_S, check=switch.check):
        raise MachineError(
            f"Open vSwitch has no way to {tunnel.remote_ip} by {UNDERLAY}",
            where="lab.vxlan",
            remedy="see ovs-vswitchd.log in the lab's directory",
        )


def _column(switch: OvsInstance, interface: str, column: str) -> str:
    return switch.configure("get", "Interface", interface, column).strip()


def _lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]
