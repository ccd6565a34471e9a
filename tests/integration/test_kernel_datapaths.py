"""DUTs of the kernel for which this machine's may have no module, in a guest that has them.

Open vSwitch's own datapath, traffic control's flower, VLAN interfaces in a bridge. What is shown is
which frames pass and who counted them, never how fast. Skipped where the parts are missing;
`make vm-nics` fetches them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from scapy.all import IP, UDP, VXLAN, Dot1Q, Ether, IPv6

from plimsoll.dut.labs.ovs import OvsSettings
from plimsoll.errors import MachineError
from plimsoll.record.metrics.metrics import read_metrics
from tests.integration.dut.namespace_lab import MACS, agreements
from tests.integration.vm.guest import CannotBoot
from tests.integration.vm.kernel_guest import (
    NOTHING_LEFT,
    booted_with_modules,
    left_by_killed_owner,
    sent_through,
    trial_of_engine,
)
from tests.integration.vm.nic_guest import UNPACKED, NicGuest

pytestmark = pytest.mark.full

FRAMES = 50
OVS: dict[str, Any] = {"kind": "ovs", "cpu": 1, "driver": "af_packet", "datapath": "system"}
FLOWER: dict[str, Any] = {"kind": "tc-redirect", "cpu": 1, "driver": "af_packet"}
BRIDGE: dict[str, Any] = {"kind": "linux-bridge", "cpu": 1, "driver": "af_packet", "vlan": 7}


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NicGuest]:
    try:
        OvsSettings().check_machine()
        folder = tmp_path_factory.mktemp("datapaths")
        with booted_with_modules(folder, "openvswitch", "cls_flower", "8021q", "bridge") as guest:
            yield guest
    except (CannotBoot, MachineError) as missing:
        pytest.skip(str(missing))


def frame(port: int, *tags: int, host: int = 1) -> str:
    """IPv4 into port 0, IPv6 into port 1; with VLAN tags, the outer one first."""
    layers = Ether(src=MACS[port], dst=MACS[1 - port])
    for tag in tags:
        layers /= Dot1Q(vlan=tag)
    if port == 0:
        layers /= IP(src="198.18.0.1", dst=f"198.19.{host // 256}.{host % 256}")
    else:
        layers /= IPv6(src="2001:2:0:2::7", dst="2001:2:0:1::1")
    return bytes(layers / UDP(sport=4096, dport=4097) / bytes(30)).hex()


def both_ways(
    guest: NicGuest,
    lab: dict[str, Any],
    frames: Sequence[str],
    **more: Any,
) -> tuple[list[str], dict[str, Any]]:
    """Frames into both ports, one alone before many more; which frames came, and the facts.

    The DUT's own counters must have each of them, in and out.
    """
    outcome = sent_through(
        guest,
        lab | more,
        [(port, content, 1) for port, content in enumerate(frames)],
        [(port, content, FRAMES) for port, content in enumerate(frames)],
    )
    first, second = outcome["rounds"]
    assert first["counters"] == [[1, 1]] * 2
    assert second["counters"] == [[FRAMES, FRAMES]] * 2
    assert [list(each.values()) for each in second["came"]] == [[FRAMES]] * 2
    assert first["remarks"] == second["remarks"] == []
    return [next(iter(each)) for each in second["came"]], outcome["facts"]["forwards"]


def layers_of(content: str) -> list[tuple[int, int]]:
    """The VLAN tags of a frame: the type before each, and its number."""
    packet: Any = Ether(bytes.fromhex(content))
    found = []
    while packet.payload.__class__.__name__ in ("Dot1Q", "Dot1AD"):
        found.append((packet.type, packet.payload.vlan))
        packet = packet.payload
    return found


@pytest.mark.parametrize(("rules", "tags"), [("cross", ()), ("normal", (6, 5))])
def test_the_kernels_datapath_passes_frames_as_they_are(
    guest: NicGuest, rules: str, tags: tuple[int, ...]
) -> None:
    frames = [frame(port, *tags) for port in (0, 1)]
    came, forwards = both_ways(guest, OVS, frames, rules=rules)
    assert came == frames
    # As the switch says: whose bridge it is, and with which ports.
    assert re.fullmatch(r"system@ovs-system: hit:\d+ missed:\d+", forwards["datapath"][0])
    assert forwards["datapath"][1] == "plimsoll0:"
    ports = [line.split()[::2] for line in forwards["datapath"][3:]]
    assert ports == [["port0", "(system)"], ["port1", "(system)"]]
    (figures,) = forwards["figures"].values()
    assert list(forwards["figures"]) == ["system@ovs-system"]
    assert figures["lookups"] == 2 * (FRAMES + 1)
    hits = figures["mask cache hits"] + figures["megaflow hits"]
    upcalls = figures["miss with success upcall"]
    assert (hits + upcalls, figures["miss with failed upcall"]) == (figures["lookups"], 0)
    # The first of each flow is an upcall, which puts its megaflow in before the frame goes on.
    assert upcalls >= 2
    assert hits >= FRAMES


@pytest.mark.parametrize(
    ("tags", "put_on"),
    [((7,), [(0x8100, 7)]), ((200, 100), [(0x88A8, 200), (0x8100, 100)])],
)
def test_the_kernels_datapath_puts_tags_on_and_takes_them_off(
    guest: NicGuest, tags: tuple[int, ...], put_on: list[tuple[int, int]]
) -> None:
    (there, back), forwards = both_ways(
        guest, OVS, [frame(0), frame(1, *tags)], push_vlan=list(tags)
    )
    assert layers_of(there) == put_on
    assert there[-len(frame(0)) + 24 :] == frame(0)[24:]
    assert back == frame(1)
    assert any("push_vlan" in rule for rule in forwards["rules"])


def inner(port: int, data_bytes: int) -> bytes:
    ip = IP(src="198.18.0.1", dst="198.19.0.1") / UDP(sport=4096, dport=4097) / bytes(data_bytes)
    return bytes(Ether(src=MACS[port], dst=MACS[1 - port]) / ip)


def encapsulated(content: bytes, vni: int) -> str:
    """From the tester's end of the tunnel to the switch's, by their defaults."""
    outer = Ether(src="02:00:03:00:00:01", dst="02:00:02:00:00:01")
    outer /= IP(src="10.1.0.1", dst="10.0.0.1") / UDP(sport=5555, dport=4789, chksum=0)
    return bytes(outer / VXLAN(vni=vni) / content).hex()


# Of a frame of 72 bytes, and of one that with its tunnel needs more than the usual MTU.
@pytest.mark.parametrize("data_bytes", [30, 1472])
def test_the_kernels_datapath_ends_a_tunnel(guest: NicGuest, data_bytes: int) -> None:
    there, back = inner(0, data_bytes), inner(1, data_bytes)
    outcome = sent_through(
        guest,
        OVS | {"vxlan": {"vni": 42}, "frame_size": 1568},
        [(0, there.hex(), 1), (1, encapsulated(back, 42), 1)],
        [(0, there.hex(), FRAMES), (1, encapsulated(back, 42), FRAMES)],
    )
    first, second = outcome["rounds"]
    assert first["counters"] == [[1, 1]] * 2
    assert second["counters"] == [[FRAMES, FRAMES]] * 2
    out_of_port1, out_of_port0 = second["came"]
    assert out_of_port0 == {back.hex(): FRAMES}
    # Each has an IP identification of its own.
    assert sum(out_of_port1.values()) == FRAMES
    for content in out_of_port1:
        packet = Ether(bytes.fromhex(content))
        assert (packet.src, packet.dst) == ("02:00:02:00:00:01", "02:00:03:00:00:01")
        assert (packet[IP].src, packet[IP].dst) == ("10.0.0.1", "10.1.0.1")
        assert (packet[UDP].dport, packet[VXLAN].vni) == (4789, 42)
        assert bytes(packet[VXLAN].payload) == there
    tunnel = outcome["facts"]["forwards"]["vxlan"]
    assert 'key="42"' in tunnel["interface"]
    assert tunnel["routes"] == ["10.0.0.0/15"]
    assert tunnel["neighbours"] == ["10.1.0.1 02:00:03:00:00:01"]


def test_another_tunnels_frames_are_lost(guest: NicGuest) -> None:
    lost = [(1, encapsulated(inner(1, 30), 43), FRAMES)]
    outcome = sent_through(guest, OVS | {"vxlan": {"vni": 42}}, lost, patience_s=1.0)
    (only,) = outcome["rounds"]
    assert only["counters"] == [[0, 0], [FRAMES, 0]]
    assert only["came"] == [{}]


def test_a_frame_for_each_megaflow_is_an_upcall_storm(guest: NicGuest) -> None:
    """By rules of IPv4 destinations each address is a megaflow of its own."""
    count = 1100
    flows = [(0, frame(0, host=1 + number), 1) for number in range(count)]
    outcome = sent_through(guest, OVS | {"rules": 2 * count}, flows)
    (only,) = outcome["rounds"]
    assert only["counters"] == [[count, 0], [0, count]]
    (storm,) = only["remarks"]
    assert storm.startswith("an upcall storm: 1,100 of the 1,100 packets that the switch received")
    (figures,) = outcome["facts"]["forwards"]["figures"].values()
    assert figures["miss with success upcall"] == count
    assert outcome["facts"]["forwards"]["rule_count"] == 2 * count


def test_a_trial_through_the_kernels_datapath_agrees_to_the_frame(guest: NicGuest) -> None:
    run, trial = trial_of_engine(guest, "ovs-system", OVS, observe={"sources": ["ovs"]})
    assert agreements(trial) == ["ok"] * 4
    sent = sum(each["sent"] for each in trial["streams"])
    rows = [each for each in read_metrics(run) if each.source == "ovs"]
    lookups = [each for each in rows if each.type == "lookups-sec"]
    assert {each.names["thread"] for each in lookups} == {"kernel"}
    kinds = {each.names["kind"] for each in lookups}
    assert kinds == {"mask-cache", "megaflow", "upcall", "failed-upcall"}
    assert sum(each.count or 0 for each in lookups) == sent
    assert max(each.value for each in rows if each.type == "datapath-flows") == 2
    # The one mask of both megaflows; of none before the first upcall.
    tried = sum(each.count or 0 for each in rows if each.type == "mask-lookups-sec")
    assert 0 < tried <= 2 * sent


def test_flower_redirects_and_is_read_back(guest: NicGuest) -> None:
    frames = [frame(0), frame(1, 6, 5)]
    came, forwards = both_ways(guest, FLOWER, frames)
    assert came == frames
    counted = {"classifier": "flower", "action": "redirect", "packets": FRAMES + 1, "drops": 0}
    assert forwards["actions"] == {
        "port0": [{**counted, "to": "port1"}],
        "port1": [{**counted, "to": "port0"}],
    }


def test_a_trial_through_flower_agrees_to_the_frame(guest: NicGuest) -> None:
    _, trial = trial_of_engine(guest, "flower", FLOWER)
    assert agreements(trial) == ["ok"] * 4


def test_a_bridge_of_a_vlan_passes_its_frames_with_their_tags(guest: NicGuest) -> None:
    frames = [frame(0, 7), frame(1, 7)]
    came, forwards = both_ways(guest, BRIDGE, frames)
    assert came == frames
    assert set(forwards["bridges"]["bridge0"]["ports"]) == {"port0.7", "port1.7"}


@pytest.mark.parametrize("tags", [(), (8,)])
def test_what_is_not_the_bridges_vlan_is_lost(guest: NicGuest, tags: tuple[int, ...]) -> None:
    outcome = sent_through(guest, BRIDGE, [(0, frame(0, *tags), FRAMES)], patience_s=1.0)
    (only,) = outcome["rounds"]
    # The cable's end has received it; no interface was there to take it.
    assert only["counters"] == [[FRAMES, 0], [0, 0]]
    assert only["came"] == [{}]


def test_a_trial_through_a_bridge_of_a_vlan_agrees_to_the_frame(guest: NicGuest) -> None:
    stream = {"name": "load", "role": "load", "flows": 64, "vlan": 7}
    _, trial = trial_of_engine(guest, "bridge-vlan", BRIDGE, profile={"streams": [stream]})
    assert agreements(trial) == ["ok"] * 4


@pytest.mark.parametrize(
    ("lab", "look", "there"),
    [
        (
            OVS | {"vxlan": {"vni": 42}},
            "ip -brief link",
            ("ovs-system", "plimsoll0", "vxlan_sys_4789", "ovs-vswitchd", "ovsdb-server"),
        ),
        (FLOWER, "tc filter show dev port0 ingress", ("flower",)),
        (BRIDGE, "ip -brief link", ("bridge0", "port1.7@port1")),
    ],
)
def test_an_owner_that_is_killed_leaves_nothing(
    guest: NicGuest, lab: dict[str, Any], look: str, there: Sequence[str]
) -> None:
    before, after = left_by_killed_owner(guest, lab, look)
    for each in there:
        assert each in before
    assert after.split() == NOTHING_LEFT


def test_without_its_module_the_kernels_datapath_is_refused(guest: NicGuest) -> None:
    """This kernel's build is not seen in the guest, so it is tried."""
    guest.must("rmmod vport_vxlan openvswitch")
    try:
        refused = "Open vSwitch cannot make a bridge of the datapath system .*openvswitch"
        with pytest.raises(AssertionError, match=refused):
            sent_through(guest, OVS, [])
    finally:
        for name in ("openvswitch", "vport-vxlan"):
            (path,) = (UNPACKED / "modules").glob(f"{name}.ko*")
            guest.must(f"insmod {path}")
