"""Sizes, rates, durations, ports and devices of flows; expectations by hand."""

from typing import Any

import pytest
from scapy.layers.inet import IP
from scapy.layers.l2 import Dot1Q

from plimsoll.remote.otg.flows.ends import Tester
from plimsoll.remote.otg.model.published import Refusal
from tests.unit.remote.otg.flows_read import (
    GIGABIT,
    TESTER,
    one_flow,
    only_flow,
    packets,
    read,
    two_ports,
)
from tests.worded.says import Says


def _sizes(write: Any, count: int) -> list[int]:
    config = two_ports()
    flow = one_flow(config)
    write(flow.size)
    (plan,) = only_flow(config).streams
    order = plan.order or tuple(range(len(plan.frames)))
    return [len(plan.frames[order[n % len(order)]]) + 4 for n in range(count)]


def test_sizes_count_up() -> None:
    def write(size: Any) -> None:
        size.increment.start, size.increment.end, size.increment.step = 64, 70, 3

    assert _sizes(write, 4) == [64, 67, 70, 64]


def test_sizes_by_weight() -> None:
    def write(size: Any) -> None:
        size.weight_pairs.custom.add(size=64, weight=3)
        size.weight_pairs.custom.add(size=128, weight=1)

    assert sorted(_sizes(write, 8)) == [64] * 6 + [128] * 2


def test_imix_is_seven_to_four_to_one() -> None:
    def write(size: Any) -> None:
        size.weight_pairs.predefined = "imix"

    found = _sizes(write, 12)
    assert sorted(found) == [64] * 7 + [570] * 4 + [1518]


def test_sizes_at_random_lie_in_their_range() -> None:
    def write(size: Any) -> None:
        size.random.min, size.random.max = 100, 109

    found = _sizes(write, 200)
    assert set(found) <= set(range(100, 110))
    assert len(set(found)) == 10


@pytest.mark.parametrize(
    ("unit", "value", "pps"),
    [
        ("pps", 50, 50.0),
        # 64 bytes are 84 on the wire, 672 bits.
        ("bps", 672_000, 1000.0),
        ("mbps", 672, 1e6),
        ("percentage", 67.2, 1e6),
    ],
)
def test_rates_are_of_layer_1(unit: str, value: float, pps: float) -> None:
    config = two_ports()
    setattr(one_flow(config, size=64).rate, unit, value)
    assert only_flow(config, GIGABIT).sending.rate_pps == pytest.approx(pps)


def test_percent_are_of_the_layer_1_speed_where_ports_have_none() -> None:
    config = two_ports()
    one_flow(config, size=64).rate.percentage = 50
    layer1 = config.layer1.add(name="l1")
    layer1.port_names, layer1.speed = ["p1", "p2"], "speed_10_gbps"
    found = read(config)
    assert found.flows["f1"].sending.rate_pps == pytest.approx(10e9 / 672 / 2)
    assert any("layer1[0]" in warning for warning in found.warnings)


def test_percent_of_nothing_are_refused(says: Says) -> None:
    config = two_ports()
    one_flow(config, size=64).rate.percentage = 50
    with pytest.raises(Refusal) as caught:
        read(config)
    assert caught.value == says("flows[0].rate.percentage")


TEN_GIGABIT = Tester(2, ((0, 1), (1, 0)), line_rate_bps=10e9)


@pytest.mark.parametrize(
    ("tester", "unit", "value", "facts"),
    [
        (TEN_GIGABIT, "gbps", 100, ("10", "14.88")),
        (TEN_GIGABIT, "mbps", 10_001, ("10", "14.88")),
        (TEN_GIGABIT, "pps", 14_880_953, ("10", "14.88")),
        (TEN_GIGABIT, "pps", 2**64 - 1, ("10", "14.88")),
        (TESTER, "pps", 2**64 - 1, ("1",)),
        (TESTER, "gbps", 10**6, ("1",)),
    ],
)
def test_more_than_the_line_carries_is_refused(
    tester: Tester, unit: str, value: float, facts: tuple[str, ...], says: Says
) -> None:
    config = two_ports()
    flow = one_flow(config, size=64)
    setattr(flow.rate, unit, value)
    # What comes after the rate is valid, and said to be nothing else.
    flow.duration.fixed_packets.packets = 7
    flow.metrics.enable = True
    flow.packet.ethernet().ipv4()
    one_flow(config, "fine").duration.fixed_packets.packets = 8
    with pytest.raises(Refusal) as caught:
        read(config, tester)
    (error,) = caught.value.errors
    assert error == says(f"flows[0].rate.{unit}", str(value), *facts)


def test_the_whole_line_may_be_sent() -> None:
    config = two_ports()
    one_flow(config, size=64).rate.gbps = 10
    assert only_flow(config, TEN_GIGABIT).sending.rate_pps == pytest.approx(14_880_952.38)


def test_one_refused_device_leaves_what_is_valid_alone() -> None:
    config = two_ports()
    _devices(config, 2)
    config.devices[3].ethernets[0].mac = None
    config.devices[3].ethernets[0].vlans.vlan(name="v", id=7)
    config.captures.add(name="c", port_names=["p9"], packet_size=99)
    with pytest.raises(Refusal) as caught:
        read(config)
    assert [error.partition(":")[0] for error in caught.value.errors] == [
        "devices[3].ethernets[0].mac",
        "captures[0].port_names",
    ]


def test_durations() -> None:
    config = two_ports()
    one_flow(config, "packets").duration.fixed_packets.packets = 100
    one_flow(config, "seconds").duration.fixed_seconds.seconds = 2.5
    one_flow(config, "always")
    late = one_flow(config, "late").duration.fixed_packets
    late.packets = 5
    late.delay.microseconds = 1500
    bursts = one_flow(config, "bursts").duration.burst
    bursts.bursts, bursts.packets = 3, 10
    bursts.inter_burst_gap.nanoseconds = 10e6
    flows = read(config).flows
    assert flows["packets"].streams[0].frame_count == 100
    seconds = flows["seconds"]
    assert (seconds.streams[0].frame_count, seconds.sending.duration_s) == (None, 2.5)
    assert flows["always"].streams[0].frame_count is None
    assert flows["late"].sending.delay_s == pytest.approx(0.0015)
    burst = flows["bursts"].streams[0]
    # 10 frames at 1000 pps and 10 ms: 10 in 20 ms.
    assert (burst.pacing.kind, burst.pacing.burst_frames, burst.frame_count) == ("burst", 10, 30)
    assert burst.rate_pps == pytest.approx(500)


def test_frames_too_short_for_the_signature_are_longer_and_said_to_be(says: Says) -> None:
    config = two_ports()
    flow = one_flow(config, size=64)
    flow.packet.ethernet().ipv4().tcp()
    found = read(config)
    (plan,) = found.flows["f1"].streams
    # 14 + 20 + 20 + 12 + 4, without the time, for nobody has asked for latency.
    assert len(plan.frames[0]) + 4 == 70
    assert plan.short_signature
    assert found.warnings[0] == says("flows[0].size", "64")
    flow.metrics.enable = True
    flow.metrics.latency.enable = True
    (plan,) = only_flow(config).streams
    assert len(plan.frames[0]) + 4 == 76
    assert not plan.short_signature


def test_frames_that_the_ports_cannot_send_are_refused_by_the_flows_size(says: Says) -> None:
    config = two_ports()
    one_flow(config, "first", size=1518)
    one_flow(config, "second", size=2000)
    with pytest.raises(Refusal) as caught:
        read(config, Tester(2, ((0, 1), (1, 0)), largest_frame_size=1518))
    assert caught.value == says("flows[1].size", "2000", "1518", "--largest-frame")


def test_ports_by_number_and_by_name() -> None:
    config = two_ports()
    config.ports[0].location, config.ports[1].location = "localhost:5555", "port 1"
    flow = one_flow(config)
    flow.tx_rx.port.rx_names = []
    found = only_flow(config, Tester(2, ((0, 1), (1, 0)), locations={"localhost:5555": 0}))
    assert (found.streams[0].tx_port, found.streams[0].rx_port, found.anywhere) == (0, 1, True)


def test_all_mistakes_are_told_at_once(says: Says) -> None:
    config = two_ports()
    config.ports[1].location = "eth7"
    one_flow(config, "a").tx_rx.port.tx_name = "p9"
    one_flow(config, "b").duration.fixed_packets.gap = 99
    config.lags.add(name="lag")
    device = config.devices.add(name="d")
    device.bgp.router_id = "1.1.1.1"
    with pytest.raises(Refusal) as caught:
        read(config)
    text = "\n".join(caught.value.errors)
    assert text == says(
        "eth7",
        "ports[1].location",
        "0",
        "p9",
        "flows[0].tx_rx.port.tx_name",
        "lags[0]",
        "devices[0].bgp",
    )


def _devices(config: Any, count: int) -> None:
    for side, port in (("tx", "p1"), ("rx", "p2")):
        other = "2" if side == "tx" else "1"
        for number in range(count):
            device = config.devices.add(name=f"{side}{number}")
            ethernet = device.ethernets.add(name=f"{side}{number}eth")
            ethernet.connection.port_name = port
            ethernet.mac = f"00:00:00:00:0{'1' if side == 'tx' else '2'}:0{number}"
            ip = ethernet.ipv4_addresses.add(name=f"{side}{number}ip")
            ip.address = f"10.1.{number}.{'1' if side == 'tx' else '2'}"
            ip.gateway = f"10.1.{number}.{other}"


def test_flows_between_devices_take_their_addresses_in_turn() -> None:
    config = two_ports()
    _devices(config, 2)
    flow = config.flows.add(name="f1")
    flow.tx_rx.device.tx_names = ["tx0ip", "tx1"]
    flow.tx_rx.device.rx_names = ["rx0ip", "rx1"]
    flow.tx_rx.device.mode = flow.tx_rx.device.ONE_TO_ONE
    flow.size.fixed = 128
    (plan,) = only_flow(config).streams
    made = [(p.src, p.dst, p[IP].src, p[IP].dst) for p in packets(plan, 3)]
    first = ("00:00:00:00:01:00", "00:00:00:00:02:00", "10.1.0.1", "10.1.0.2")
    second = ("00:00:00:00:01:01", "00:00:00:00:02:01", "10.1.1.1", "10.1.1.2")
    assert made == [first, second, first]
    assert (plan.tx_port, plan.rx_port) == (0, 1)


def test_a_flows_own_addresses_stay_and_vlans_are_the_devices() -> None:
    config = two_ports()
    _devices(config, 1)
    config.devices[0].ethernets[0].vlans.add(name="v", id=42)
    own = config.flows.add(name="own")
    own.tx_rx.device.tx_names, own.tx_rx.device.rx_names = ["tx0"], ["rx0"]
    own.size.fixed = 128
    eth, ip = own.packet.ethernet().ipv4()
    eth.src.value, ip.dst.value = "02:00:00:00:00:99", "9.9.9.9"
    tagged = config.flows.add(name="tagged")
    tagged.tx_rx.device.tx_names, tagged.tx_rx.device.rx_names = ["tx0"], ["rx0"]
    tagged.size.fixed = 128
    flows = read(config).flows
    frame = packets(flows["own"].streams[0], 1)[0]
    assert (frame.src, frame.dst) == ("02:00:00:00:00:99", "00:00:00:00:02:00")
    assert (frame[IP].src, frame[IP].dst) == ("10.1.0.1", "9.9.9.9")
    assert packets(flows["tagged"].streams[0], 1)[0][Dot1Q].vlan == 42


def test_a_gateway_that_nobody_has_is_refused() -> None:
    config = two_ports()
    _devices(config, 1)
    config.devices[0].ethernets[0].ipv4_addresses[0].gateway = "10.1.0.254"
    flow = config.flows.add(name="f1")
    flow.tx_rx.device.tx_names, flow.tx_rx.device.rx_names = ["tx0"], ["rx0"]
    with pytest.raises(Refusal, match=r"the MAC of 10\.1\.0\.254"):
        read(config)


def test_mesh_shares_the_frames_among_pairs_of_ports() -> None:
    tester = Tester(4, ((0, 1), (2, 3)))
    config = two_ports()
    config.ports.port(name="p3", location="2").port(name="p4", location="3")
    _devices(config, 2)
    config.devices[1].ethernets[0].connection.port_name = "p3"
    flow = config.flows.add(name="f1")
    flow.tx_rx.device.tx_names, flow.tx_rx.device.rx_names = ["tx0", "tx1"], ["rx0", "rx1"]
    flow.duration.fixed_packets.packets = 101
    flow.size.fixed = 128
    streams = only_flow(config, tester).streams
    assert [(plan.tx_port, plan.rx_port) for plan in streams] == [(0, 1), (2, 1)]
    assert sum(plan.frame_count or 0 for plan in streams) == 101
    assert TESTER.port_count == 2
