"""Tables of OpenFlow rules, VLAN tags, VXLAN and IPv6 through a real Open vSwitch."""

import json
import socket
from typing import Any

import pytest
from scapy.all import IP, UDP, AsyncSniffer, Dot1AD, Dot1Q, Ether, conf

from plimsoll.dut.ovs.ovs import OvsSettings
from plimsoll.dut.registry.labs import lab_kinds
from plimsoll.errors import MachineError
from plimsoll.host.ledger.ledger import Ledger
from tests.integration.command import Workplace, journal
from tests.integration.dut.namespace_lab import (
    CPU,
    FRAMES,
    MACS,
    PATIENCE_S,
    agreements,
    ends_of,
    make_lab,
    run_trial,
)


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
        pytest.param({"vlan": [200, 100], "frame_size": 100}, id="qinq"),
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


def exchanged(sender: str, receiver: str, frame: Ether) -> list[bytes]:
    """What comes out at one end of frames sent into the other, by Scapy, which keeps tags."""
    begun: list[bool] = []
    sniffer = AsyncSniffer(
        iface=receiver,
        count=FRAMES,
        lfilter=lambda got: got.src == frame.src,
        started_callback=lambda: begun.append(True),
        opened_socket=conf.L2listen(iface=receiver),
    )
    sniffer.start()
    while not begun:
        sniffer.thread.join(0.01)
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as port:
        port.bind((sender, 0))
        for _ in range(FRAMES):
            port.send(bytes(frame))
    sniffer.join(PATIENCE_S)
    return [bytes(each) for each in sniffer.results]
