"""Headers and fields: what snappi configures is what Scapy reads out of the frames."""

from typing import Any

import pytest
from scapy.contrib.gtp import GTP_U_Header
from scapy.contrib.mpls import MPLS
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6
from scapy.layers.l2 import ARP, GRE, Dot1Q, Ether
from scapy.layers.vxlan import VXLAN

from plimsoll.remote.otg.model.published import Refusal
from tests.unit.remote.otg.flows_read import (
    frames,
    one_flow,
    only_flow,
    packets,
    read,
    two_ports,
)
from tests.worded.says import Says


def _frame(flow: Any, config: Any) -> Any:
    (plan,) = only_flow(config).streams
    return packets(plan, 1)[0]


def test_udp_over_ipv4_with_otgs_defaults() -> None:
    config = two_ports()
    flow = one_flow(config, size=128)
    eth, ip, udp = flow.packet.ethernet().ipv4().udp()
    eth.src.value, eth.dst.value = "00:aa:00:00:04:00", "00:AA:00:00:00:AA"
    ip.src.value, ip.dst.value = "10.0.0.1", "10.0.0.2"
    udp.src_port.value = 5000
    frame = _frame(flow, config)
    assert len(frame) == 124
    assert (frame[Ether].src, frame[Ether].dst) == ("00:aa:00:00:04:00", "00:aa:00:00:00:aa")
    assert (frame[IP].src, frame[IP].dst, frame[IP].len) == ("10.0.0.1", "10.0.0.2", 110)
    assert (frame[IP].id, frame[IP].ttl, frame[IP].tos, frame[IP].flags) == (0, 64, 0, 0)
    assert (frame[UDP].sport, frame[UDP].dport, frame[UDP].len) == (5000, 0, 90)
    assert frame.build() == Ether(frame.build()).build()


def test_tcp_flags_priority_and_vlans() -> None:
    config = two_ports()
    flow = one_flow(config, size=200)
    eth, outer, inner, ip, tcp = flow.packet.ethernet().vlan().vlan().ipv4().tcp()
    eth.ether_type.value = 0x88A8
    outer.id.value, outer.priority.value, inner.id.value = 100, 5, 200
    ip.priority.dscp.phb.value = ip.priority.dscp.phb.EF46
    ip.dont_fragment.value = 1
    tcp.ctl_syn.value = tcp.ctl_ack.value = 1
    tcp.seq_num.value, tcp.window.value = 7, 1024
    frame = _frame(flow, config)
    assert frame[Ether].type == 0x88A8
    assert bytes(frame)[14:22] == bytes.fromhex("a064810000c80800")
    assert (frame[IP].tos, str(frame[IP].flags)) == (46 << 2, "DF")
    assert (str(frame[TCP].flags), frame[TCP].seq, frame[TCP].window) == ("SA", 7, 1024)


def test_tunnels() -> None:
    config = two_ports()
    flow = one_flow(config, size=256)
    _, _, udp, vxlan, inner, ip6, _ = (
        flow.packet.ethernet().ipv4().udp().vxlan().ethernet().ipv6().tcp()
    )
    udp.dst_port.value = 4789
    vxlan.vni.values = [1000, 1001]
    inner.src.value = "00:00:01:01:01:03"
    ip6.src.value, ip6.dst.value = "::3", "::5"
    (plan,) = only_flow(config).streams
    made = packets(plan, 3)
    assert [each[VXLAN].vni for each in made] == [1000, 1001, 1000]
    assert made[0][VXLAN][Ether].src == "00:00:01:01:01:03"
    assert (made[0][IPv6].src, made[0][IPv6].plen) == ("::3", 256 - 14 - 4 - 20 - 8 - 8 - 14 - 40)
    for each in made:
        stored = each[UDP].chksum
        del each[UDP].chksum
        assert Ether(each.build())[UDP].chksum == stored


def test_gtp_mpls_gre_arp_and_pings() -> None:
    config = two_ports()
    gtp = one_flow(config, "gtp", size=256)
    _, _, udp, user, _, _ = gtp.packet.ethernet().ipv4().udp().gtpv1().ipv4().udp()
    udp.dst_port.value, user.message_type.value, user.teid.value = 2152, 255, 0xABCD
    mpls = one_flow(config, "mpls", size=128)
    mpls.packet.ethernet().mpls().mpls().ipv4()
    mpls.packet[1].label.value = 16001
    gre = one_flow(config, "gre", size=128)
    gre.packet.ethernet().ipv4().gre().ipv4()
    arp = one_flow(config, "arp", size=64)
    _, question = arp.packet.ethernet().arp()
    question.sender_protocol_addr.value, question.target_protocol_addr.value = "1.1.1.1", "1.1.1.2"
    ping = one_flow(config, "ping", size=128)
    _, _, icmp = ping.packet.ethernet().ipv4().icmp()
    icmp.echo.identifier.value = 9
    ping6 = one_flow(config, "ping6", size=128)
    _, _, icmpv6 = ping6.packet.ethernet().ipv6().icmpv6()
    icmpv6.echo.sequence_number.value = 3
    made = {name: packets(flow.streams[0], 1)[0] for name, flow in read(config).flows.items()}
    user = made["gtp"][GTP_U_Header]
    assert (user.teid, user.gtp_type, user[IP].ttl) == (0xABCD, 255, 64)
    assert user.length == len(user) - 8
    labels = made["mpls"][MPLS]
    assert (labels.label, labels.s, labels[MPLS:2].label, labels[MPLS:2].s) == (16001, 0, 16, 1)
    assert made["gre"][GRE].proto == 0x800
    assert (made["arp"][ARP].op, made["arp"][ARP].psrc) == (1, "1.1.1.1")
    assert (made["ping"][ICMP].type, made["ping"][ICMP].id) == (8, 9)
    assert made["ping6"][ICMPv6EchoRequest].seq == 3


def test_patterns_count_up_down_and_through_lists() -> None:
    config = two_ports()
    flow = one_flow(config, size=128)
    eth, vlan, ip, udp = flow.packet.ethernet().vlan().ipv4().udp()
    eth.src.decrement.start, eth.src.decrement.step, eth.src.decrement.count = (
        "00:10:10:20:20:20",
        "00:00:00:00:00:01",
        3,
    )
    vlan.id.increment.start, vlan.id.increment.step, vlan.id.increment.count = 100, 10, 3
    ip.src.increment.start, ip.src.increment.step, ip.src.increment.count = (
        "1.1.1.1",
        "0.1.2.3",
        100,
    )
    ip.dst.values = ["9.9.9.9", "8.8.8.8"]
    udp.dst_port.decrement.start, udp.dst_port.decrement.step = 6000, 2
    udp.dst_port.decrement.count = 10
    (plan,) = only_flow(config).streams
    made = packets(plan, 11)
    assert [each.src for each in made[:4]] == [
        "00:10:10:20:20:20",
        "00:10:10:20:20:1f",
        "00:10:10:20:20:1e",
        "00:10:10:20:20:20",
    ]
    assert [each[Dot1Q].vlan for each in made[:4]] == [100, 110, 120, 100]
    assert [each[IP].src for each in made[:3]] == ["1.1.1.1", "1.2.3.4", "1.3.5.7"]
    assert [each[IP].dst for each in made[:3]] == ["9.9.9.9", "8.8.8.8", "9.9.9.9"]
    assert [each[UDP].dport for each in made] == [*range(6000, 5980, -2), 6000]
    for each in made:
        stored = (each[IP].chksum, each[UDP].chksum)
        del each[IP].chksum, each[UDP].chksum
        again = Ether(each.build())
        assert (again[IP].chksum, again[UDP].chksum) == stored


def test_random_values_lie_in_their_range_and_repeat() -> None:
    config = two_ports()
    flow = one_flow(config, size=128)
    _, _, udp = flow.packet.ethernet().ipv4().udp()
    udp.src_port.random.min, udp.src_port.random.max = 1000, 1009
    udp.src_port.random.count, udp.src_port.random.seed = 50, 4
    (plan,) = only_flow(config).streams
    ports = [each[UDP].sport for each in packets(plan, 100)]
    assert set(ports) <= set(range(1000, 1010))
    assert len(set(ports)) > 5
    assert ports[:50] == ports[50:]


def test_own_bytes_follow_the_headers() -> None:
    config = two_ports()
    flow = one_flow(config, size=128)
    flow.packet.ethernet().ipv4().udp().custom()
    flow.packet[-1].bytes = b"hello".hex()
    (plan,) = only_flow(config).streams
    (frame,) = frames(plan, 1)
    assert frame[42:47] == b"hello"


def _bad_checksum(flow: Any) -> None:
    flow.packet.ethernet().ipv4()
    flow.packet[1].header_checksum.generated = "bad"


def _protocol(flow: Any) -> None:
    flow.packet.ethernet().rsvp()


def _tag(flow: Any) -> None:
    _, _, udp = flow.packet.ethernet().ipv4().udp()
    udp.src_port.metric_tags.add(name="t")


def _varying_flag(flow: Any) -> None:
    _, _, tcp = flow.packet.ethernet().ipv4().tcp()
    tcp.ctl_syn.values = [0, 1]


def _varying_length(flow: Any) -> None:
    _, ip = flow.packet.ethernet().ipv4()
    ip.total_length.values = [60, 70]


def _egress(flow: Any) -> None:
    flow.packet.ethernet()
    flow.egress_packet.ethernet()


def _odd_bytes(flow: Any) -> None:
    flow.packet.ethernet().custom()
    flow.packet[-1].bytes = "abc"


def _no_ethernet(flow: Any) -> None:
    flow.packet.ipv4()


@pytest.mark.parametrize(
    ("write", "facts"),
    [
        (_bad_checksum, ("flows[0].packet[1].ipv4.header_checksum.generated",)),
        (_protocol, ("flows[0].packet[1].rsvp",)),
        (_tag, ("flows[0].packet[2].udp.src_port.metric_tags",)),
        (_varying_flag, ("flows[0].packet[2].tcp.ctl_syn",)),
        (_varying_length, ("flows[0].packet[1].ipv4.total_length", "IP.len")),
        (_egress, ("flows[0].egress_packet[0]",)),
        (_odd_bytes, ("flows[0].packet[1].custom.bytes",)),
        (_no_ethernet, ("flows[0].packet[0].choice", "ipv4")),
    ],
)
def test_what_cannot_be_sent_is_refused_at_its_path(
    write: Any, facts: tuple[str, ...], says: Says
) -> None:
    config = two_ports()
    write(one_flow(config, size=256))
    with pytest.raises(Refusal) as caught:
        only_flow(config)
    assert caught.value.kind == "validation"
    assert caught.value.errors == says(*facts)
