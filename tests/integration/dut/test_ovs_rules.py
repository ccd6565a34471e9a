"""Tables of OpenFlow rules, VLAN tags, VXLAN and IPv6 through a real Open vSwitch."""

import json
from typing import Any

import pytest
from scapy.all import IP, UDP, VXLAN, Dot1AD, Dot1Q, Ether

from plimsoll.dut.labs.ovs import OvsSettings
from plimsoll.dut.registry.labs import lab_kinds
from plimsoll.errors import MachineError
from plimsoll.host.ledger.ledger import Ledger
from tests.integration.command import Workplace, journal
from tests.integration.dut.namespace_lab import (
    CPU,
    FRAMES,
    MACS,
    agreements,
    ends_of,
    make_lab,
    run_trial,
    settings_of,
)
from tests.integration.packet_port import PacketPort
from tests.integration.unspoilt import unspoilt


# Of 50,000 rules each way so many, spread over all of them.
# In each direction as many addresses as half of the table has.
def spread(count: int) -> dict[str, Any]:
    return {"flows": 1000, "vary": [{"field": "IP.dst", "step": count // 2000}]}


@pytest.fixture(autouse=True)
def _has_open_vswitch() -> None:
    assert "ovs" in lab_kinds()
    try:
        OvsSettings().check_machine()
    except MachineError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("count", [2_000, pytest.param(100_000, marks=pytest.mark.full)])
def test_frames_find_their_rules_among_thousands(place: Workplace, count: int) -> None:
    """The table has no rule for all: what hits none of it is lost."""
    trial = run_trial(place, {"kind": "ovs", "cpu": CPU, "rules": count}, **spread(count))
    assert agreements(trial) == ["ok"] * 4
    (up,) = [event for event in journal(place.only_run()) if event["kind"] == "lab-up"]
    forwards = up["lab"]["forwards"]
    print(f"{count:,} rules in {forwards['rules_installed_in_s']} s")
    assert forwards["rule_count"] == count
    assert forwards["rules_installed_in_s"] > 0


@pytest.mark.parametrize(
    "stream",
    [
        pytest.param({"vlan": 100}, id="vlan", marks=pytest.mark.full),
        pytest.param({"vlan": [200, 100], "frame_size": 100}, id="qinq", marks=pytest.mark.slow),
        pytest.param({"vxlan": {"vni": 42}, "frame_size": 150}, id="vxlan", marks=pytest.mark.full),
        pytest.param(
            {"src_ip": "2001:2:0:1::1", "frame_size": 100}, id="ipv6", marks=pytest.mark.full
        ),
    ],
)
def test_encapsulated_frames_pass_and_are_counted(
    place: Workplace, stream: dict[str, object]
) -> None:
    trial = run_trial(place, {"kind": "ovs", "cpu": CPU}, **stream)
    assert agreements(trial) == ["ok"] * 4


@pytest.mark.parametrize("tags", [(100,), (200, 100)])
def test_tags_are_put_on_and_taken_off_again(ledger: Ledger, tags: tuple[int, ...]) -> None:
    lab = make_lab(ledger, "ovs", push_vlan=list(tags))
    near, far = ends_of(lab)
    plain = IP(src="198.18.0.1", dst="198.19.0.1") / UDP(sport=4096, dport=4097) / bytes(30)
    tagged = (
        Dot1Q(vlan=100) / plain if len(tags) == 1 else Dot1AD(vlan=200) / Dot1Q(vlan=100) / plain
    )
    there, back = Ether(src=MACS[0], dst=MACS[1]), Ether(src=MACS[1], dst=MACS[0])
    assert exchanged(near, far, there / plain) == [bytes(there / tagged)] * FRAMES
    assert exchanged(far, near, back / tagged) == [bytes(back / plain)] * FRAMES
    counted = lab.counters()
    assert counted is not None
    assert [(each.rx_frames, each.tx_frames) for each in counted] == [(FRAMES, FRAMES)] * 2
    rules = json.loads(json.dumps(lab.facts()["forwards"]))["rules"]
    assert sum(each.count("push_vlan") for each in rules) == len(tags)
    assert sum(each.count("pop_vlan") for each in rules) == len(tags)
    lab.down()


def of_the_tunnel(vni: int = 42) -> Ether:
    """What is around a frame that comes back, from the tester's end of the tunnel."""
    outer = Ether(src="02:00:03:00:00:01", dst="02:00:02:00:00:01")
    udp = UDP(sport=49152, dport=4789, chksum=0)
    return outer / IP(src="10.1.0.1", dst="10.0.0.1") / udp / VXLAN(flags=8, vni=vni)


def test_a_tunnel_begins_and_ends_in_the_switch(ledger: Ledger) -> None:
    lab = make_lab(ledger, "ovs", vxlan={"vni": 42})
    near, far = ends_of(lab)
    packet = IP(src="198.18.0.1", dst="198.19.0.1") / UDP(sport=4096, dport=4097) / bytes(30)
    there = Ether(src=MACS[0], dst=MACS[1]) / packet
    back = Ether(src=MACS[1], dst=MACS[0]) / packet
    tunnelled = exchanged(near, far, there, seen_from="02:00:02:00:00:01")
    assert len(tunnelled) == FRAMES
    for each in map(Ether, tunnelled):
        assert (each.dst, each[IP].src, each[IP].dst) == (
            "02:00:03:00:00:01",
            "10.0.0.1",
            "10.1.0.1",
        )
        assert (each[UDP].dport, each[VXLAN].vni) == (4789, 42)
        assert bytes(each[VXLAN].payload) == bytes(there)
    assert exchanged(far, near, of_the_tunnel() / back) == [bytes(back)] * FRAMES
    counted = lab.counters()
    assert counted is not None
    assert [(each.rx_frames, each.tx_frames) for each in counted] == [(FRAMES, FRAMES)] * 2
    lab.down()


def test_the_tunnel_is_read_back_from_the_switch(ledger: Ledger) -> None:
    lab = make_lab(ledger, "ovs", vxlan={"vni": 7, "remote_mac": "02:00:00:00:00:99"})
    lab.up()
    forwards = json.loads(json.dumps(lab.facts()["forwards"]))
    assert forwards["rules"] == ["in_port=1 actions=output:2", "in_port=2 actions=output:1"]
    tunnel = forwards["vxlan"]
    assert {'key="7"', 'remote_ip="10.1.0.1"', 'local_ip="10.0.0.1"'} <= set(
        tunnel["interface"].strip("{}").split(", ")
    )
    assert "10.1.0.1 02:00:00:00:00:99 plimsoll1" in tunnel["neighbours"]
    assert any("10.0.0.0/15 dev plimsoll1" in route for route in tunnel["routes"])
    assert any("ipv4(dst=10.0.0.1,proto=17" in end for end in tunnel["terminated"])
    assert len(tunnel["outer_rules"]) == 3
    lab.down()


def test_what_is_not_the_tunnels_is_lost_and_counted(ledger: Ledger) -> None:
    lab = make_lab(ledger, "ovs", vxlan={"vni": 42})
    near, far = ends_of(lab)
    back = Ether(src=MACS[1], dst=MACS[0]) / IP(src="198.19.0.1", dst="198.18.0.1") / bytes(40)
    with PacketPort(far) as port:
        for stranger in (back, of_the_tunnel(vni=43) / back):
            port.send(bytes(stranger))
    # Behind them one that passes, so that all have been seen.
    assert exchanged(far, near, of_the_tunnel() / back) == [bytes(back)] * FRAMES
    counted = lab.counters()
    assert counted is not None
    assert [(each.rx_frames, each.tx_frames) for each in counted] == [(0, FRAMES), (FRAMES + 2, 0)]
    lab.down()


# Plain from port 0, and as it leaves the tunnel from port 1.
THROUGH_THE_TUNNEL = [
    {"name": "there", "role": "load", "direction": "unidirectional", "frame_size": 100},
    {
        "name": "back",
        "role": "load",
        "direction": "revunidirectional",
        "frame_size": 150,
        "vxlan": {"vni": 42},
    },
]


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("ovs", {}),
        pytest.param("ovs", {"rules": 1000, "push_vlan": [100]}, marks=pytest.mark.full),
        pytest.param("ovs-dpdk", {}, marks=pytest.mark.full),
    ],
)
def test_both_count_the_frames_of_a_tunnel(
    place: Workplace, kind: str, more: dict[str, Any]
) -> None:
    try:
        settings_of(kind).check_machine()
    except MachineError as error:
        pytest.skip(str(error))
    streams = THROUGH_THE_TUNNEL[:1] if more else THROUGH_THE_TUNNEL
    lab = {"kind": kind, "cpu": CPU, "vxlan": {"vni": 42}, **more}
    experiment = place.experiment(profile={"streams": streams}, lab=lab)
    words = ("--load", "1kpps", "--duration", "1s", "--json", "--runs", place.runs)
    done = unspoilt(place, "trial", experiment, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    trial = json.loads(done.stdout)
    assert trial["verdict"] == "pass"
    assert all(each["received"] == each["sent"] for each in trial["streams"])
    assert all(each["sent"] + each["skipped"] == 1000 for each in trial["streams"])
    assert agreements(trial) == ["ok"] * 4
    (up,) = [event for event in journal(place.only_run()) if event["kind"] == "lab-up"]
    assert 'key="42"' in up["lab"]["forwards"]["vxlan"]["interface"]


def exchanged(
    sender: str, receiver: str, frame: Ether, seen_from: str | None = None
) -> list[bytes]:
    """What comes out at one end of frames sent into the other.

    They come from `seen_from`, or from where they were sent, the innermost if in a tunnel.
    """
    source = seen_from or frame.getlayer(Ether, 2 if VXLAN in frame else 1).src
    theirs = bytes.fromhex(source.replace(":", ""))
    with PacketPort(sender) as near, PacketPort(receiver) as far:
        near.send(bytes(frame), FRAMES)
        return [far.receive(lambda got: got[6:12] == theirs) for _ in range(FRAMES)]
