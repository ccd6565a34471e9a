"""A router with a flowtable, in a guest whose kernel has flowtables: this machine's may not.

What is shown is by which path frames went, never how fast. Skipped where the parts are missing;
`make vm-nics` fetches them.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from scapy.all import IP, TCP, UDP, Dot1Q, Ether, IPv6

from plimsoll.record.metrics.metrics import read_metrics
from tests.integration.dut.namespace_lab import MACS
from tests.integration.vm.guest import CannotBoot
from tests.integration.vm.kernel_guest import (
    NOTHING_LEFT,
    Send,
    booted_with_modules,
    left_by_killed_owner,
    sent_through,
    trial_of_engine,
)
from tests.integration.vm.nic_guest import NicGuest

pytestmark = pytest.mark.full

# A flow's frames in a round, many more than it takes to get into the flowtable.
FRAMES = 50
ENDS = {4: ("198.18.0.1", "198.19.7.7"), 6: ("2001:2:0:1::1", "2001:2:0:2::7")}
LAB = {"kind": "linux-router", "cpu": 1, "flowtable": True, "driver": "af_packet"}
TTL = 64
MODULES = ("nf_flow_table", "nf_flow_table_inet", "nft_flow_offload")


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NicGuest]:
    if shutil.which("nft") is None:
        pytest.skip("there is no nft (package nftables)")
    try:
        with booted_with_modules(tmp_path_factory.mktemp("nf"), *MODULES) as guest:
            yield guest
    except CannotBoot as missing:
        pytest.skip(str(missing))


def frame(port: int, version: int = 4, transport: type = UDP, sport: int = 4096) -> bytes:
    """From the host behind a port to that behind the other; the second's answer to the first."""
    ends = ENDS[version][:: 1 - 2 * port]
    ports = (sport, 4097)[:: 1 - 2 * port]
    source, destination = ends
    ip = (
        IP(src=source, dst=destination, ttl=TTL)
        if version == 4
        else IPv6(src=source, dst=destination, hlim=TTL)
    )
    macs = MACS[:: 1 - 2 * port]
    packet = Ether(src=macs[0], dst=macs[1]) / ip
    return bytes(packet / transport(sport=ports[0], dport=ports[1]) / bytes(30))


def send(port: int, count: int, **more: Any) -> Send:
    return port, frame(port, **more).hex(), count


def routed(
    guest: NicGuest, *rounds: Sequence[Send], patience_s: float = 60.0, **settings: object
) -> dict[str, Any]:
    """What came of rounds of frames through one lab."""
    return sent_through(guest, LAB | settings, *rounds, patience_s=patience_s)


def paths(outcome: dict[str, Any]) -> list[list[tuple[str, int, int, int]]]:
    """By round and port: frames received, by the fast path, by the slow."""
    return [[_path(text) for text in each["remarks"]] for each in outcome["rounds"]]


def _path(text: str) -> tuple[str, int, int, int]:
    found = re.fullmatch(
        r"of ([\d,]+) frames that (port\d) received, ([\d,]+) took the flowtable's fast path "
        r"and ([\d,]+) the slow path",
        text,
    )
    assert found, text
    received, port, fast, slow = found.groups()
    numbers = [int(each.replace(",", "")) for each in (received, fast, slow)]
    return port, numbers[0], numbers[1], numbers[2]


def ttl_of(content: str, version: int) -> int:
    packet = Ether(bytes.fromhex(content))
    return int(packet[IP].ttl if version == 4 else packet[IPv6].hlim)


def tracked(outcome: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """By the lines of the last round's conntrack: the protocol, and what is said in brackets."""
    lines = outcome["rounds"][-1]["tracked"]
    return sorted((line.split()[0], re.findall(r"\[(\w+)\]", line)) for line in lines)


@pytest.mark.parametrize("version", [4, 6])
def test_a_flow_both_ways_takes_the_fast_path_from_its_third_frame(
    guest: NicGuest, version: int
) -> None:
    """The first makes conntrack's entry, the second puts it into the flowtable for both ways."""
    there, back = (frame(port, version).hex() for port in (0, 1))
    outcome = routed(
        guest,
        [(0, there, 1), (1, back, 1)],
        [(0, there, FRAMES), (1, back, FRAMES)],
    )
    assert paths(outcome) == [
        [("port0", 1, 0, 1), ("port1", 1, 0, 1)],
        [("port0", FRAMES, FRAMES, 0), ("port1", FRAMES, FRAMES, 0)],
    ]
    counted = [each["counters"] for each in outcome["rounds"]]
    assert counted == [[[1, 1]] * 2, [[FRAMES, FRAMES]] * 2]
    assert tracked(outcome) == [(f"ipv{version}", ["OFFLOAD"])]
    # By either path a router takes one from the TTL, and nothing else has changed.
    came = [each for one in outcome["rounds"] for each in one["came"]]
    assert [len(each) for each in came] == [1, 1, 1, 1]
    assert {ttl_of(content, version) for each in came for content in each} == {TTL - 1}
    assert came[0].keys() == came[2].keys()
    assert came[1].keys() == came[3].keys()
    assert outcome["facts"]["forwards"]["flowtable"]["dev"] == ["port0", "port1"]
    assert "flowtable by nftables v" in outcome["facts"]["version"]


@pytest.mark.parametrize("version", [4, 6])
def test_a_flow_one_way_needs_no_answer(guest: NicGuest, version: int) -> None:
    content = frame(0, version).hex()
    outcome = routed(guest, [(0, content, 1), (0, content, 1)], [(0, content, FRAMES)])
    assert paths(outcome) == [[("port0", 2, 0, 2)], [("port0", FRAMES, FRAMES, 0)]]
    assert outcome["rounds"][1]["counters"] == [[FRAMES, 0], [0, FRAMES]]
    assert [words[-1] for _, words in tracked(outcome)] == ["OFFLOAD"]


def test_each_flow_is_one_of_its_own(guest: NicGuest) -> None:
    flows = [send(0, 10, sport=5000 + n) for n in range(8)]
    outcome = routed(guest, flows)
    assert paths(outcome) == [[("port0", 80, 64, 16)]]
    assert len(tracked(outcome)) == 8


def test_flows_for_which_conntrack_has_no_room_are_dropped_and_said_to_be(guest: NicGuest) -> None:
    """Of 30 flows of ten frames each, 12 have room."""
    guest.must("sysctl -w net.netfilter.nf_conntrack_max=12")
    try:
        flows = [send(0, 10, sport=5000 + n) for n in range(30)]
        outcome = routed(guest, flows, patience_s=1.0)
    finally:
        guest.must("sysctl -w net.netfilter.nf_conntrack_max=65536")
    (came,) = outcome["rounds"]
    assert [sum(each.values()) for each in came["came"]] == [10] * 12 + [0] * 18
    by_path, dropped = came["remarks"]
    assert _path(by_path) == ("port0", 300, 12 * 8, 12 * 2 + 180)
    assert dropped.startswith("180 packets were dropped because connection tracking had no room")


def test_tcp_without_a_handshake_stays_on_the_slow_path(guest: NicGuest) -> None:
    outcome = routed(guest, [send(0, FRAMES, transport=TCP)])
    print(tracked(outcome))
    assert paths(outcome) == [[("port0", FRAMES, 0, FRAMES)]]


def test_a_router_of_a_vlan_has_it_upon_its_ports(guest: NicGuest) -> None:
    """The flowtable takes tags off and puts them on by itself."""
    plain = [Ether(frame(port)) for port in (0, 1)]
    there, back = (
        bytes(Ether(src=each.src, dst=each.dst) / Dot1Q(vlan=7) / each.payload).hex()
        for each in plain
    )
    outcome = routed(
        guest,
        [(0, there, 1), (1, back, 1)],
        [(0, there, FRAMES), (1, back, FRAMES)],
        vlan=7,
    )
    assert paths(outcome)[1] == [("port0", FRAMES, FRAMES, 0), ("port1", FRAMES, FRAMES, 0)]
    (content,) = outcome["rounds"][1]["came"][0]
    assert Ether(bytes.fromhex(content))[Dot1Q].vlan == 7
    assert ttl_of(content, 4) == TTL - 1


def test_a_trial_of_the_engine_agrees_to_the_frame(guest: NicGuest) -> None:
    """64 flows each way; those of the two directions are the same for the first alone."""
    run, trial = trial_of_engine(guest, "flowtable", LAB, observe={"sources": ["flowtable"]})
    outcomes = {each["rule"]: each["outcome"] for each in trial["findings"]}
    assert outcomes["dut-counters"] == "ok"
    found = [_path(each["text"]) for each in trial["findings"] if each["rule"] == "flowtable"]
    sent = [each["sent"] for each in trial["streams"]]
    assert [(port, received) for port, received, _, _ in found] == [
        ("port0", sent[0]),
        ("port1", sent[1]),
    ]
    assert [fast + slow for _, _, fast, slow in found] == sent
    # Two frames of each of 127 flows, and all others by the fast path.
    assert sum(slow for _, _, _, slow in found) == 254
    rows = [each for each in read_metrics(run) if each.source == "flowtable"]
    by_path = {
        path: sum(each.count or 0 for each in rows if each.names.get("path") == path)
        for path in ("fast", "slow")
    }
    assert by_path == {"fast": sum(sent) - 254, "slow": 254}
    assert [each.value for each in rows if each.type == "conntrack-entries"][-1] == 127


def test_its_owner_is_killed_and_nothing_is_left(guest: NicGuest) -> None:
    before, after = left_by_killed_owner(guest, LAB, "nft list flowtables")
    assert "flowtable fastpath" in before
    assert re.search(r"plimsoll-[0-9a-f]{6}", before)
    assert re.search(r"pl[0-9a-f]{6}-0", before)
    assert after.split() == NOTHING_LEFT
