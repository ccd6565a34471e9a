"""What captures keep of routes. Columns as in net/ipv4/fib_trie.c and net/ipv6/route.c."""

from plimsoll.host.ports.own_traffic import routes_of
from plimsoll.tune.host.ports.uplinks import ROUTES, ROUTES_6, default_routes

HEAD = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT"
# The default by 192.168.0.1; 192.168.0.0/24; 0.0.0.0/1, half of a VPN's default.
IPV4 = f"""{HEAD}
eno1\t00000000\t0100A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
eno1\t0000A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0
tun0\t00000000\t0208010A\t0003\t0\t0\t0\t00000080\t0\t0\t0
"""
ZERO = "0" * 32
LAB = "fd00" + "0" * 28
IPV6 = f"""{LAB} 40 {ZERO} 00 {ZERO} 00000100 00000001 00000000 00000001     eno1
{ZERO} 00 {ZERO} 00 fe80{"0" * 27}1 00000400 00000003 00000000 00000003     eno1
{ZERO} 00 {ZERO} 00 {ZERO} ffffffff 00000001 00000000 00200200       lo
"""


def test_of_ipv4_the_default_without_its_gateway_is_kept() -> None:
    assert default_routes(ROUTES, IPV4) == (
        f"{HEAD}\neno1\t00000000\t00000000\t0003\t0\t0\t100\t00000000\t0\t0\t0"
    )


def test_of_ipv6_likewise() -> None:
    kept = default_routes(ROUTES_6, IPV6).split("\n")
    assert len(kept) == 2
    assert "fe80" not in kept[0]
    assert kept[0].split()[9] == "eno1"


def test_who_reads_it_finds_the_same_default() -> None:
    ipv4, ipv6 = default_routes(ROUTES, IPV4), default_routes(ROUTES_6, IPV6)
    defaults = [
        each
        for each in routes_of(IPV4.splitlines(), IPV6.splitlines())
        if each.network.prefixlen == 0
    ]
    assert list(routes_of(ipv4.splitlines(), ipv6.splitlines())) == defaults
    assert [(each.interface, each.metric) for each in defaults] == [("eno1", 100), ("eno1", 1024)]


def test_nothing_and_garbage_are_no_routes() -> None:
    assert default_routes(ROUTES, "") == ""
    assert default_routes(ROUTES, "x\ny z\n\n") == "x"
    assert default_routes(ROUTES_6, "y z") == ""
