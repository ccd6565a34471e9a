"""The VXLAN tunnel of a lab's Open vSwitch: its settings, its rules, its counters."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.dut.ovs.vxlan import OuterCounts, VxlanTunnel, outer_rules, read_outer_counts
from plimsoll.dut.registry.labs import LabSettings
from tests.worded.says import Says

# As ovs-ofctl 3.1 prints them; the first has counted what was for another MAC address.
DUMPED = """OFPST_FLOW reply (OF1.3) (xid=0x2):
 cookie=0x0, duration=8.1s, table=0, n_packets=4, n_bytes=210, priority=1,in_port=1 actions=drop
 cookie=0x0, duration=8.1s, table=0, n_packets=1000, n_bytes=146000, priority=2,udp,\
in_port=port1,dl_dst=02:00:02:00:00:01,nw_dst=10.0.0.1,tp_dst=4789 actions=LOCAL
 cookie=0x0, duration=8.1s, table=0, n_packets=997, n_bytes=145562, priority=2,udp,in_port=LOCAL,\
tp_dst=4789 actions=output:1
"""


def lab(**settings: Any) -> Any:
    return TypeAdapter(LabSettings).validate_python(settings)


@pytest.mark.parametrize(
    ("ends", "address"),
    [
        ({}, "10.0.0.1/15"),
        ({"local_ip": "192.0.2.1", "remote_ip": "192.0.2.2"}, "192.0.2.1/30"),
        ({"local_ip": "10.0.0.1", "remote_ip": "100.64.0.1"}, "10.0.0.1/1"),
    ],
)
def test_both_ends_are_in_the_least_network(ends: dict[str, str], address: str) -> None:
    assert str(VxlanTunnel.model_validate({"vni": 42, **ends}).address) == address


@pytest.mark.parametrize(
    ("tunnel", "facts"),
    [
        ({}, ()),
        ({"vni": 1 << 24}, ("16777215",)),
        ({"vni": 1, "remote_ip": "10.0.0.1"}, ("10.0.0.1",)),
        ({"vni": 1, "remote_ip": "192.0.2.1"}, ("192.0.2.1", "10.0.0.1")),
        ({"vni": 1, "remote_ip": "2001:db8::1"}, ("IPv4",)),
    ],
)
def test_what_is_not_a_tunnel(tunnel: dict[str, Any], facts: tuple[str, ...], says: Says) -> None:
    with pytest.raises(ValidationError) as caught:
        VxlanTunnel.model_validate(tunnel)
    assert caught.value == says(*facts)


def test_tunnels_are_refused_where_they_cannot_end(says: Says) -> None:
    with pytest.raises(ValidationError) as caught:
        lab(kind="ovs-dpdk", chain="pvp", vxlan={"vni": 1})
    assert caught.value == says()


def test_the_underlay_lets_the_tunnel_alone_through() -> None:
    assert outer_rules(VxlanTunnel(vni=1)) == (
        "priority=2,in_port=1,udp,nw_dst=10.0.0.1,dl_dst=02:00:02:00:00:01,tp_dst=4789,"
        "actions=LOCAL",
        "priority=1,in_port=1,actions=drop",
        "priority=2,in_port=LOCAL,udp,tp_dst=4789,actions=output:1",
    )


def test_all_that_came_in_is_counted() -> None:
    assert read_outer_counts(DUMPED) == OuterCounts(into=1004, out_of=997)


def experiment(*streams: dict[str, Any], **settings: Any) -> Experiment:
    return Experiment.model_validate(
        {
            "name": "tunnel",
            "lab": {"kind": "ovs-dpdk", **settings},
            "profile": {"streams": [{"role": "load", **each} for each in streams]},
            "search": {"minimum": "1kpps", "maximum": "2kpps"},
        }
    )


def test_what_goes_forward_becomes_longer() -> None:
    both = {"name": "both", "frame_size": 200}
    back = {"name": "back", "frame_size": 1518, "direction": "revunidirectional"}
    assert experiment(both).largest_frame_size == 200
    assert experiment(both, push_vlan=[200, 100]).largest_frame_size == 208
    assert experiment(both, vxlan={"vni": 1}).largest_frame_size == 250
    assert experiment(both, push_vlan=[100], vxlan={"vni": 1}).largest_frame_size == 254
    assert experiment(both, back, vxlan={"vni": 1}).largest_frame_size == 1518
