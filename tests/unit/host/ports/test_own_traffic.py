import socket
from ipaddress import ip_network
from pathlib import Path

import pytest

from plimsoll.host.ports.own_traffic import Route, interfaces_in_use, read_routes
from tests.worded.says import Says

# As Linux 6.1 on a little-endian machine prints them, less what is not read.
IPV4 = """\
Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t00000000\t0100A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
eth0\t0000A8C0\t00000000\t0001\t0\t0\t100\t0000FFFF\t0\t0\t0
mgmt\t0000140A\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0
dead\t0000000A\t00000000\t0200\t0\t0\t0\t000000FF\t0\t0\t0
"""
IPV6 = """\
20010db8000000000000000000000000 20 00000000000000000000000000000000 00 \
00000000000000000000000000000000 00000400 00000001 00000000 00000001     eth1
00000000000000000000000000000000 00 00000000000000000000000000000000 00 \
fe800000000000000000000000000001 00000400 00000001 00000000 00000003     eth1
00000000000000000000000000000000 00 00000000000000000000000000000000 00 \
00000000000000000000000000000000 ffffffff 00000001 00000000 00200200       lo
"""


@pytest.fixture
def routes(tmp_path: Path) -> tuple[Route, ...]:
    (tmp_path / "route").write_text(IPV4)
    (tmp_path / "ipv6_route").write_text(IPV6)
    return read_routes(tmp_path)


@pytest.mark.skipif(socket.htons(1) == 1, reason="the captured table is a little-endian machine's")
def test_routes_are_read_as_the_kernel_prints_them(routes: tuple[Route, ...]) -> None:
    assert routes == (
        Route(ip_network("0.0.0.0/0"), "eth0", 100),
        Route(ip_network("192.168.0.0/16"), "eth0", 100),
        Route(ip_network("10.20.0.0/16"), "mgmt", 0),
        Route(ip_network("2001:db8::/32"), "eth1", 1024),
        Route(ip_network("::/0"), "eth1", 1024),
    )


def test_a_kernel_without_ipv6_has_ipv4_routes_only(tmp_path: Path) -> None:
    (tmp_path / "route").write_text(IPV4)
    assert {route.network.version for route in read_routes(tmp_path)} == {4}


def test_default_routes_are_in_use(routes: tuple[Route, ...]) -> None:
    reason = "it carries the default route"
    assert interfaces_in_use(routes, {}, {}) == {"eth0": reason, "eth1": reason}


@pytest.mark.parametrize(
    ("client", "interface"),
    [
        ("10.20.1.2 55000 10.20.0.1 22", "mgmt"),
        ("192.168.7.7 55000 192.168.0.1 22", "eth0"),
        ("8.8.8.8 55000 192.168.0.1 22", "eth0"),
        ("2001:db8::7 55000 2001:db8::1 22", "eth1"),
    ],
)
def test_the_way_back_to_an_ssh_client_is_in_use(
    routes: tuple[Route, ...], client: str, interface: str, says: Says
) -> None:
    used = interfaces_in_use(routes, {}, {"SSH_CONNECTION": client})
    assert used[interface] == says()


def test_a_client_that_cannot_be_read_is_not_attributed(routes: tuple[Route, ...]) -> None:
    assert interfaces_in_use(routes, {}, {"SSH_CONNECTION": "UNKNOWN 65535 UNKNOWN 65535"}) == (
        interfaces_in_use(routes, {}, {})
    )


def test_what_an_interface_in_use_is_built_upon_is_in_use_too(
    routes: tuple[Route, ...], says: Says
) -> None:
    masters = {"ens1": ("bond0",), "ens2": ("bond0",), "bond0": ("eth0",), "eth0": (), "ens3": ()}
    used = interfaces_in_use(routes, masters, {})
    assert set(used) == {"eth0", "eth1", "bond0", "ens1", "ens2"}
    assert used["bond0"] == says("eth0")
