"""The tester as a host: settings, next hops, and the MACs that frames get."""

from dataclasses import replace
from ipaddress import ip_address

import pytest
from pydantic import ValidationError

from plimsoll.errors import InputError, MachineError
from plimsoll.generator.engine.hosts import Hosts, HostSettings
from plimsoll.generator.engine.settings import EngineSettings
from plimsoll.generator.interface import PortInfo, ResolvedAddress
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.traffic.streams.profile import Profile
from tests.worded.says import Says

PATHS = ((0, 1), (1, 0))
OWN = "02:00:00:00:00:aa"
ROUTER = "02:00:00:00:00:bb"
NEAR = HostSettings.model_validate(
    {
        "port": 0,
        "addresses": ["192.0.2.2/25", "2001:db8::2/64"],
        "gateways": ["192.0.2.1", "2001:db8::1"],
    }
)
FAR = HostSettings.model_validate({"port": 1, "addresses": "192.0.2.130/25", "mac": OWN})


def port(number: int, mac: str = "02:00:00:00:00:01") -> PortInfo:
    return PortInfo(
        number, f"net_ring{number}", "net_ring", mac, True, None, None, 1, 1, False, False, False,
        "tsc",
    )  # fmt: skip


PORTS = (port(0), port(1))


def plans(**stream: object) -> tuple[StreamPlan, ...]:
    """The forward and the reverse direction of a stream."""
    load = {"name": "load", "role": "load", **stream}
    return compile_profile(Profile.model_validate({"streams": [load]}), 1000.0, PATHS)


def macs(plan: StreamPlan) -> tuple[str, str]:
    """Destination and source of its first frame."""
    return (plan.frames[0][:6].hex(":"), plan.frames[0][6:12].hex(":"))


@pytest.mark.parametrize(
    ("given", "facts"),
    [
        ({"addresses": []}, ("1",)),
        ({"addresses": ["192.0.2.2"]}, ("192.0.2.2",)),
        ({"addresses": ["192.0.2.300/24"]}, ("192.0.2.300/24",)),
        ({"addresses": ["224.0.0.1/24"]}, ("224.0.0.1/24",)),
        ({"addresses": ["10.0.0.1/8", "10.0.0.1/24"]}, ("10.0.0.1",)),
        ({"gateways": ["198.51.100.1"]}, ("198.51.100.1",)),
        ({"gateways": ["2001:db8::1"]}, ("2001:db8::1",)),
        ({"gateways": ["192.0.2.2"]}, ("192.0.2.2",)),
        ({"gateways": ["192.0.2.1", "192.0.2.3"]}, ()),
        ({"mac": "01:00:5e:00:00:01"}, ("01:00:5e:00:00:01",)),
        ({"mac": "00:00:00:00:00:00"}, ("00:00:00:00:00:00",)),
        ({"vlan": 4095}, ("4094",)),
        ({"port": -1}, ("0",)),
        ({"adresses": ["192.0.2.2/24"]}, ()),
    ],
)
def test_what_is_no_host_is_refused(
    given: dict[str, object], facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(ValidationError) as caught:
        HostSettings.model_validate({"port": 0, "addresses": ["192.0.2.2/24"], **given})
    assert caught.value == says(*facts)


def test_hosts_are_on_ports_that_are_there_and_alone(says: Says) -> None:
    with pytest.raises(InputError) as error:
        EngineSettings(hosts=(NEAR, FAR)).check_ports(1)
    assert error.value == says("port", "1")
    assert error.value.where == "generator.hosts[1].port"
    with pytest.raises(InputError) as caught:
        EngineSettings(hosts=(NEAR, NEAR)).check_ports(2)
    assert caught.value == says("2", "hosts", "port", "0")


def test_the_engine_is_told_addresses_without_prefixes() -> None:
    hosts = Hosts([NEAR, FAR])
    assert hosts.request_of(0) == {"host": {"addresses": ["192.0.2.2", "2001:db8::2"]}}
    assert hosts.request_of(1) == {"host": {"addresses": ["192.0.2.130"], "mac": OWN}}
    assert hosts.request_of(2) == {}


@pytest.mark.parametrize(
    ("destination", "hop"),
    [
        ("192.0.2.77", "192.0.2.77"),
        ("192.0.2.129", "192.0.2.1"),
        ("198.19.0.1", "192.0.2.1"),
        ("2001:db8::77", "2001:db8::77"),
        ("2001:db8:0:1::1", "2001:db8::1"),
    ],
)
def test_what_is_in_no_network_goes_to_the_gateway(destination: str, hop: str) -> None:
    assert NEAR.next_hop(ip_address(destination)) == ip_address(hop)


def test_a_stream_that_leads_nowhere_is_refused_beforehand() -> None:
    with pytest.raises(InputError, match=r"load/1-0 goes to 198\.18\.0\.1") as error:
        EngineSettings(hosts=(NEAR, FAR)).streams_sent(plans(), 2)
    assert "no IPv4 gateway" in error.value.message
    assert error.value.where == "generator.hosts"


def test_frames_go_from_the_hosts_mac_to_that_of_the_next_hop() -> None:
    hosts = Hosts([NEAR])
    forward, reverse = plans()
    assert hosts.next_hops((forward, reverse)) == [(0, ip_address("192.0.2.1"))]
    found = (ResolvedAddress(0, "192.0.2.1", ROUTER, 1),)
    there, back = hosts.addressed((forward, reverse), found, PORTS)
    assert macs(there) == (ROUTER, "02:00:00:00:00:01")
    assert [frame[12:] for frame in there.frames] == [frame[12:] for frame in forward.frames]
    # Port 1 has no host.
    assert macs(back) == ("02:00:00:00:00:01", "02:00:01:00:00:01")
    assert not there.unaddressed


def test_a_hosts_own_mac_takes_the_ports_place() -> None:
    host = NEAR.model_copy(update={"mac": OWN})
    (there, _) = Hosts([host]).addressed(
        plans(dst_ip="192.0.2.9", src_ip="192.0.2.2"),
        (ResolvedAddress(0, "192.0.2.9", ROUTER, 1),),
        PORTS,
    )
    assert macs(there) == (ROUTER, OWN)


def test_macs_that_are_written_stay() -> None:
    written = {"src_mac": "02:00:00:00:00:11", "dst_mac": "02:00:00:00:00:22"}
    hosts = Hosts([NEAR])
    streams = plans(**written)
    assert hosts.next_hops(streams) == []
    there, _ = hosts.addressed(streams, (), PORTS)
    assert macs(there) == (written["dst_mac"], written["src_mac"])


@pytest.mark.parametrize(
    "stream",
    [
        {"protocol": "ARP"},
        {"protocol": "GARP"},
        {"mpls": 100},
        {"vxlan": {"vni": 42}, "frame_size": 128},
        {"packet": "Ether()/IP()/UDP()"},
        {"flows": 4, "vary": ["src_mac", "dst_mac"]},
    ],
)
def test_what_is_no_plain_ip_packet_keeps_its_macs(stream: dict[str, object]) -> None:
    if "packet" in stream:
        stream = {"packet": [{"Ether": {}}, {"IP": {}}, {"UDP": {}}]}
    assert [plan.unaddressed for plan in plans(**stream)] == [False, False]


def test_nobody_who_answers_is_an_error_that_names_port_and_address(says: Says) -> None:
    found = (ResolvedAddress(0, "192.0.2.1", None, 5),)
    with pytest.raises(MachineError) as error:
        Hosts([NEAR]).addressed(plans(), found, PORTS)
    assert error.value == says("192.0.2.1", "net_ring0", "5")
    assert error.value.where == "generator.hosts"


def test_a_ring_has_nobody_to_ask() -> None:
    assert EngineSettings(hosts=(NEAR,)).on_rings().hosts == ()


def test_addressed_streams_are_the_same_but_for_their_macs() -> None:
    forward, _ = plans(flows=8)
    found = (ResolvedAddress(0, "192.0.2.1", ROUTER, 1),)
    (there,) = Hosts([NEAR]).addressed((forward,), found, PORTS)
    same = replace(forward, frames=there.frames, destination=None, own_source=False)
    assert there == same
