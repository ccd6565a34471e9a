"""A DUT between two of the tester's ports, which forwards on a CPU of its own."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, StrictInt, model_validator

from plimsoll.dut.lab import LabModel
from plimsoll.dut.ports.tester_ports import LineRateField
from plimsoll.errors import MachineError
from plimsoll.text.mistakes import mistake
from plimsoll.traffic.frames.addresses import MacField
from plimsoll.traffic.streams.compile import Paths

PORTS = (0, 1)
PATHS: Paths = ((0, 1), (1, 0))


class TwoPortSettings(LabModel):
    """The frames of both directions are forwarded on `cpu`.

    `line_rate` is nominal, as a port in memory has no wire: with it loads can be written in %,
    and utilisation is reported as a share of it.
    """

    cpu: int = Field(default=1, ge=0)
    line_rate: LineRateField | None = None

    @property
    def polled_cpus(self) -> tuple[tuple[str, int], ...]:
        """That on which frames are forwarded."""
        return (("lab.cpu", self.cpu),)

    @property
    def port_count(self) -> int:
        """One at each end of the DUT."""
        return len(PORTS)

    @property
    def directions(self) -> Paths:
        """Through the DUT both ways."""
        return PATHS

    @property
    def line_rate_bps(self) -> float | None:
        """As stated, L1."""
        return self.line_rate.value if self.line_rate else None


# The hosts behind either port, as next hops: of RFC 5737's documentation network, and of
# the link. The router itself has no address, and so has nothing to say of its own.
_NEXT_HOPS = {4: ("192.0.2.1", "192.0.2.2"), 6: ("fe80::1", "fe80::2")}

MAX_ROUTES = 100_000
# Of more the record has the number, and these.
SHOWN_ROUTES = 64

IpNetwork = IPv4Network | IPv6Network


def _network(given: object) -> object:
    try:
        return ip_network(str(given))
    except ValueError as error:
        raise mistake(f"{given!r} is not a network: {error}", "write 198.18.0.0/16") from None


Networks = Annotated[
    tuple[Annotated[IpNetwork, BeforeValidator(_network)], ...], Field(min_length=1, max_length=64)
]


class RoutedSettings(LabModel):
    """A router with a static route to each of `networks`, by way of static neighbours.

    `networks` are those behind port 0 and behind port 1; the defaults are those of a
    profile's streams: RFC 2544's and RFC 5180's addresses for benchmarks. With `routes` there
    are so many to IPv4 hosts, half of them behind either port, in place of the one to the first
    IPv4 network there, whose addresses they count up from the first host's. `macs` are the
    addresses of the tester's ports.
    """

    networks: tuple[Networks, Networks] = (
        (IPv4Network("198.18.0.0/16"), IPv6Network("2001:2:0:1::/64")),
        (IPv4Network("198.19.0.0/16"), IPv6Network("2001:2:0:2::/64")),
    )
    routes: Annotated[StrictInt, Field(ge=2, le=MAX_ROUTES)] | None = None
    macs: tuple[MacField, MacField] = ("02:00:00:00:00:01", "02:00:01:00:00:01")

    @model_validator(mode="after")
    def _check_room(self) -> Self:
        for port in PORTS if self.routes else ():
            room = _first_ipv4(self.networks[port]).num_addresses - 2
            if room < self._hosts(port):
                raise mistake(
                    f"{self.routes} routes are more than the networks have hosts: {room} behind "
                    f"port {port}",
                    "give fewer routes, or a wider network",
                )
        return self

    def routed_to(self, port: int) -> Iterator[IpNetwork]:
        """What there is a route to by way of a port."""
        networks = self.networks[port]
        if self.routes is None:
            yield from networks
            return
        first = _first_ipv4(networks)
        begin = int(first.network_address) + 1
        yield from (IPv4Network(begin + host) for host in range(self._hosts(port)))
        yield from (network for network in networks if network is not first)

    @property
    def route_count(self) -> int:
        """How many static routes there are."""
        return sum(1 for port in PORTS for _ in self.routed_to(port))

    def check_installed(self, present: int) -> None:
        """Raise MachineError where the router has another number of routes than it was given."""
        if present != self.route_count:
            raise MachineError(
                f"of {self.route_count} routes the router has {present}",
                where="lab.routes",
                remedy="give fewer routes, or look at the router's log in the lab's directory",
            )

    def _hosts(self, port: int) -> int:
        """Port 1 has one more of an odd number, for the load's first direction goes there."""
        return ((self.routes or 0) + port) // 2

    @property
    def router_macs(self) -> tuple[str, ...]:
        """Of the router: its port 0 has that of the tester's port 1, and its port 1 that of port 0.

        A stream's frames go from the one of the tester's ports to the other.
        """
        return tuple(reversed(self.macs))

    @property
    def versions(self) -> tuple[int, ...]:
        """Of IP, those that it routes."""
        return tuple(sorted({each.version for some in self.networks for each in some}))


def _first_ipv4(networks: tuple[IpNetwork, ...]) -> IPv4Network:
    for network in networks:
        if isinstance(network, IPv4Network):
            return network
    raise mistake("routes to IPv4 hosts need an IPv4 network", "add one to both, or remove routes")


def next_hop(version: int, port: int) -> str:
    """The address of the host behind a port."""
    return _NEXT_HOPS[version][port]
