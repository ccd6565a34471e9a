"""Which interfaces the machine depends on: its default route, and the caller's own session."""

from __future__ import annotations

import ipaddress
import os
import socket
import struct
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_ROUTES = Path("/proc/net")
_RTF_UP, _RTF_REJECT = 0x1, 0x200
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class Route:
    """One entry of the main routing table; `metric` decides between equals."""

    network: _Network
    interface: str
    metric: int


def read_routes(directory: Path = _ROUTES) -> tuple[Route, ...]:
    """The routes of this network namespace, as /proc/net/route and ipv6_route list them."""
    return routes_of(_lines(directory / "route"), _lines(directory / "ipv6_route"))


def routes_of(ipv4: Sequence[str], ipv6: Sequence[str]) -> tuple[Route, ...]:
    """The routes in those files' lines, the first's heading among them."""
    return (*_ipv4_routes(ipv4[1:]), *_ipv6_routes(ipv6))


def interfaces_in_use(
    routes: Collection[Route],
    masters: Mapping[str, Collection[str]],
    environment: Mapping[str, str] = os.environ,
) -> dict[str, str]:
    """The interfaces that tests must leave alone, each with the reason.

    `masters` are the interfaces built upon each: what a bridge or bond is used for, its
    members are.
    """
    used: dict[str, str] = {}
    for route in routes:
        if route.network.prefixlen == 0:
            used.setdefault(route.interface, "it carries the default route")
    # "client-address client-port server-address server-port" (ssh(1)).
    client = environment.get("SSH_CONNECTION", "").partition(" ")[0]
    by_ssh = _route_to(client, routes)
    if by_ssh is not None:
        used[by_ssh.interface] = "it carries this SSH session"
    return _with_members(used, masters)


def _route_to(address: str, routes: Collection[Route]) -> Route | None:
    """The route that the kernel would take: the longest prefix, then the lowest metric."""
    try:
        # A link-local address names its interface after a %.
        destination = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    fitting = [
        route
        for route in routes
        if route.network.version == destination.version and destination in route.network
    ]
    return max(fitting, key=lambda route: (route.network.prefixlen, -route.metric), default=None)


def _with_members(
    used: Mapping[str, str], masters: Mapping[str, Collection[str]]
) -> dict[str, str]:
    """`used` and all on which these interfaces are built, however deep."""
    every = dict(used)
    for _ in masters:
        for name, above in masters.items():
            for master in above:
                if master in every:
                    every.setdefault(name, f"{master} is built upon it, and {every[master]}")
    return every


def _ipv4_routes(lines: Collection[str]) -> Iterator[Route]:
    for line in lines:
        words = line.split()
        if len(words) < 8 or int(words[3], 16) & (_RTF_UP | _RTF_REJECT) != _RTF_UP:
            continue
        # Addresses are in the machine's byte order.
        address, mask = (socket.inet_ntoa(struct.pack("=I", int(words[at], 16))) for at in (1, 7))
        network = ipaddress.IPv4Network(f"{address}/{mask}", strict=False)
        yield Route(network, words[0], int(words[6]))


def _ipv6_routes(lines: Collection[str]) -> Iterator[Route]:
    for line in lines:
        words = line.split()
        if len(words) < 10 or int(words[8], 16) & (_RTF_UP | _RTF_REJECT) != _RTF_UP:
            continue
        if words[9] == "lo":
            continue
        address = ipaddress.IPv6Address(int(words[0], 16))
        network = ipaddress.IPv6Network((address, int(words[1], 16)), strict=False)
        yield Route(network, words[9], int(words[5], 16))


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        # A kernel without IPv6 has no such file.
        return []
