"""What tells a switch where a stream's destinations live."""

from typing import Any

import pytest

from plimsoll.errors import InputError
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.traffic.streams.profile import Profile
from plimsoll.traffic.teaching.teaching import (
    MeasurementTeaching,
    TeachingSettings,
    WarmupTeaching,
    background_teaching,
    check_teaching,
    teaching_before,
    teaching_duration_s,
)
from tests.unit.traffic.frame_reader import parse, written
from tests.worded.says import Says

THROUGH = ((0, 1), (1, 0))
BOTH = ["teaching_warmup", "teaching_measurement", "measurement"]
FORWARD: dict[str, Any] = {
    "name": "load",
    "role": "load",
    "direction": "unidirectional",
    "stream_types": BOTH,
    "src_mac": "02:00:00:00:00:01",
    "dst_mac": "02:00:00:00:01:00",
    "src_ip": "10.0.0.1",
    "dst_ip": "10.0.1.0",
}


def _profile(*streams: dict[str, Any]) -> Profile:
    return Profile.model_validate({"streams": list(streams)})


def _before(*streams: dict[str, Any], **settings: Any) -> tuple[StreamPlan, ...]:
    return teaching_before(_profile(*streams), WarmupTeaching(**settings), THROUGH)


def _frames(plan: StreamPlan) -> list[bytes]:
    """All that are sent before a trial; templates take turns."""
    assert plan.frame_count is not None
    return [written(plan, number, number % len(plan.frames)) for number in range(plan.frame_count)]


def test_every_destination_is_once_a_source_on_the_port_that_receives_it() -> None:
    varied = FORWARD | {"flows": 300, "vary": ["dst_mac", "dst_ip"]}
    (load,) = compile_profile(_profile(varied), 1e6, THROUGH)
    (taught,) = _before(varied)
    assert (taught.tx_port, taught.rx_port) == (load.rx_port, load.tx_port)
    destinations = {parse(written(load, number)).macs[0][1] for number in range(300)}
    learnt = [parse(frame) for frame in _frames(taught)]
    assert {each.macs[0][0] for each in learnt} == destinations
    assert len(destinations) == len(learnt) == 300
    assert [(each.ips[0], each.macs[0][1]) for each in learnt[254:257]] == [
        (("10.0.1.254", "10.0.0.1"), "02:00:00:00:00:01"),
        (("10.0.1.255", "10.0.0.1"), "02:00:00:00:00:01"),
        (("10.0.2.0", "10.0.0.1"), "02:00:00:00:00:01"),
    ]
    assert all(all(each.valid) for each in learnt)


def test_both_directions_are_taught_and_the_same_addresses_once() -> None:
    probe = {"name": "probe", "role": "latency", "rate": "1kpps", "stream_types": BOTH}
    plans = _before(FORWARD | {"direction": "bidirectional"}, FORWARD | probe)
    assert [(plan.name, plan.tx_port, plan.rx_port) for plan in plans] == [
        ("load-teaching/1-0", 1, 0),
        ("load-teaching/0-1", 0, 1),
    ]
    assert [parse(plan.frames[0]).ips[0][0] for plan in plans] == ["10.0.1.0", "10.0.0.1"]


def test_streams_that_do_not_ask_are_not_taught() -> None:
    without_teaching = FORWARD | {"stream_types": ["measurement"]}
    assert _before(without_teaching) == ()
    streams = compile_profile(_profile(without_teaching), 1e6, THROUGH)
    background = background_teaching(
        streams, _profile(without_teaching), MeasurementTeaching(), THROUGH
    )
    assert background == ()


def test_gratuitous_arp_says_who_has_every_destination() -> None:
    (taught,) = _before(FORWARD | {"flows": 4, "vary": ["dst_mac", "dst_ip"]}, frames="garp")
    said = [parse(frame).arp for frame in _frames(taught)]
    broadcast = "ff:ff:ff:ff:ff:ff"
    # Requests and replies in turn.
    assert said == [
        (1, "02:00:00:00:01:00", "10.0.1.0", broadcast, "10.0.1.0"),
        (2, "02:00:00:00:01:01", "10.0.1.1", broadcast, "10.0.1.1"),
        (1, "02:00:00:00:01:02", "10.0.1.2", broadcast, "10.0.1.2"),
        (2, "02:00:00:00:01:03", "10.0.1.3", broadcast, "10.0.1.3"),
    ]


def test_echo_requests_come_from_every_destination() -> None:
    fields = ["src_port", "dst_ip", "IP.ttl"]
    varied = {"flows": 2, "vary": fields, "vlan": 7, "frame_size": 100}
    (taught,) = _before(FORWARD | varied, frames="icmp")
    learnt = [parse(frame) for frame in _frames(taught)]
    assert [each.ips[0] for each in learnt] == [("10.0.1.0", "10.0.0.1"), ("10.0.1.1", "10.0.0.1")]
    assert [each.tags for each in learnt] == [[(7, 0)]] * 2
    assert [each.protocols for each in learnt] == [[1]] * 2


def test_a_tunnel_is_turned_round_as_well() -> None:
    vxlan = {"vni": 3, "src_ip": "192.0.2.1", "dst_ip": "192.0.2.2"}
    (taught,) = _before(FORWARD | {"vxlan": vxlan, "frame_size": 200})
    learnt = parse(taught.frames[0])
    assert learnt.ips == [("192.0.2.2", "192.0.2.1"), ("10.0.1.0", "10.0.0.1")]
    assert learnt.ports[0][1] == 4789


def test_a_written_packet_is_turned_round() -> None:
    packet = [
        {"Ether": {"src": "02:00:00:00:00:0a", "dst": "02:00:00:00:00:0b"}},
        {"IP": {"src": "10.9.0.1", "dst": "10.9.0.2"}},
        {"UDP": {"sport": 10, "dport": 20}},
    ]
    vary = [{"field": "IP.dst", "values": "random", "count": 8, "seed": 3}, "UDP.sport"]
    (taught,) = _before(
        {"name": "x", "role": "load", "packet": packet, "vary": vary, "flows": 4}
        | {"stream_types": BOTH, "direction": "unidirectional"}
    )
    learnt = [parse(frame) for frame in _frames(taught)]
    # Random destinations are taught one after the other, so that none is left out.
    assert [each.ips[0][0] for each in learnt] == [f"10.9.0.{host}" for host in range(2, 10)]
    assert [each.ports[0] for each in learnt[:5]] == [(20, 10 + port) for port in (0, 1, 2, 3, 0)]


def test_gratuitous_arp_is_taught_by_the_far_ends_own() -> None:
    garp = FORWARD | {"protocol": "GARP", "vary": ["src_ip"], "flows": 2}
    (taught,) = _before(garp)
    arp = parse(_frames(taught)[0]).arp
    assert arp is not None
    assert arp[1:3] == ("02:00:00:00:01:00", "10.0.1.0")


def test_frames_before_a_trial_are_counted_and_timed() -> None:
    slow = FORWARD | {"name": "slow", "dst_mac": "02:00:00:00:02:00", "flows": 100}
    plans = _before(FORWARD | {"flows": 1000}, slow, rate="500pps")
    assert [(plan.frame_count, plan.rate_pps) for plan in plans] == [(1000, 500), (100, 500)]
    assert teaching_duration_s(plans) == 2.0


def test_a_stream_for_teaching_alone_has_its_own_rate() -> None:
    alone = FORWARD | {"name": "alone", "stream_types": ["teaching_warmup"], "rate": "20pps"}
    (taught,) = _before(FORWARD | {"stream_types": ["measurement"]}, alone)
    assert (taught.name, taught.rate_pps) == ("alone-teaching/1-0", 20)


@pytest.mark.parametrize(
    ("flows", "interval", "pps"), [(1000, 10, 100.0), (1000, 0.5, 1000.0), (1, 10, 0.1)]
)
def test_in_the_background_every_flow_is_taught_once_an_interval(
    flows: int, interval: float, pps: float
) -> None:
    """But never faster than the rate, 1000 pps by default."""
    profile = _profile(FORWARD | {"flows": flows})
    streams = compile_profile(profile, 1e6, THROUGH)
    settings = MeasurementTeaching(interval=interval)
    (taught,) = background_teaching(streams, profile, settings, THROUGH)
    assert (taught.stream, taught.rate_pps, taught.frame_count) == (1, pps, None)


def test_without_measurement_teaching_there_is_none_in_the_background() -> None:
    profile = _profile(FORWARD)
    assert background_teaching(compile_profile(profile, 1e6, THROUGH), profile, None, THROUGH) == ()


@pytest.mark.parametrize(
    ("changes", "frames", "facts"),
    [
        (
            {"dst_mac": "01:00:5e:00:00:01"},
            "generic",
            ("01:00:5e:00:00:01",),
        ),
        (
            {"packet": [{"Ether": {"dst": "ff:ff:ff:ff:ff:ff"}}, "IP", "UDP"]},
            "generic",
            ("ff:ff:ff:ff:ff:ff",),
        ),
        (
            {"packet": ["Ether", "IP", "UDP"]},
            "icmp",
            ("packet",),
        ),
        (
            {"src_ip": "2001:db8::1", "dst_ip": "2001:db8::2", "frame_size": 84, "prefix": 64},
            "garp",
            ("IPv4",),
        ),
        (
            {"flows": 2, "vary": ["IP.dst"]},
            "garp",
            ("IP.src",),
        ),
    ],
)
def test_what_cannot_be_taught_is_reported(
    changes: dict[str, Any], frames: Any, facts: tuple[str, ...], says: Says
) -> None:
    teaching = TeachingSettings(warmup=None, measurement=MeasurementTeaching(frames=frames))
    with pytest.raises(InputError) as caught:
        check_teaching(_profile(FORWARD | changes), teaching)
    assert caught.value == says(*facts)
    assert caught.value.where == "measurement.frames"
    assert caught.value.remedy


def test_a_teaching_rate_is_in_pps(says: Says) -> None:
    with pytest.raises(ValueError) as caught:
        WarmupTeaching.model_validate({"rate": "60%"})
    assert caught.value == says("60%", "rate")
