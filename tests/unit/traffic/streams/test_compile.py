"""From a profile to streams as the engine sends them."""

import struct
from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import InputError
from plimsoll.traffic.plan import Pacing, StreamPlan
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.traffic.streams.profile import Profile
from tests.unit.traffic.frame_reader import parse
from tests.worded.says import Says

THROUGH = ((0, 1), (1, 0))
LOAD: dict[str, Any] = {"name": "load", "role": "load", "flows": 1024}
PROBE: dict[str, Any] = {
    "name": "probe",
    "role": "latency",
    "rate": "1000pps",
    "direction": "unidirectional",
}


def _compile(*streams: dict[str, Any], load_pps: float = 500_000) -> tuple[StreamPlan, ...]:
    profile = Profile.model_validate({"streams": list(streams)})
    return compile_profile(profile, load_pps, THROUGH)


def test_streams_are_numbered_and_named_by_their_ports() -> None:
    plans = _compile(LOAD, PROBE)
    assert [(p.stream, p.name, p.role, p.tx_port, p.rx_port, p.rate_pps) for p in plans] == [
        (0, "load/0-1", "load", 0, 1, 500_000),
        (1, "load/1-0", "load", 1, 0, 500_000),
        (2, "probe/0-1", "latency", 0, 1, 1000),
    ]


def test_odd_paths_carry_the_reverse_direction() -> None:
    forward, reverse = (parse(plan.frames[0]) for plan in _compile(LOAD))
    assert forward.ips == [("198.18.0.1", "198.19.0.1")]
    assert reverse.ips == [("198.19.0.1", "198.18.0.1")]


def test_one_way_streams_take_their_path() -> None:
    reverse = LOAD | {"name": "back", "direction": "revunidirectional"}
    plans = _compile(LOAD | {"direction": "unidirectional"}, reverse)
    assert [(plan.tx_port, plan.rx_port) for plan in plans] == [(0, 1), (1, 0)]


def test_a_direction_without_a_path_is_an_error(says: Says) -> None:
    profile = Profile.model_validate({"streams": [LOAD | {"direction": "revunidirectional"}]})
    with pytest.raises(InputError) as caught:
        compile_profile(profile, 1000, ((0, 0),))
    assert caught.value == says("revunidirectional")
    assert caught.value.where == "lab.paths"
    assert caught.value.remedy


def test_load_streams_share_the_load_by_weight() -> None:
    small = {"name": "small", "role": "load", "rate": "7x"}
    middle = {"name": "middle", "role": "load", "rate": "4x", "frame_size": 594}
    large = {"name": "large", "role": "load", "rate": "1x", "frame_size": 1518}
    plans = _compile(small, middle, large, load_pps=12_000)
    assert [plan.rate_pps for plan in plans] == [7000, 7000, 4000, 4000, 1000, 1000]
    assert [plan.mean_frame_size for plan in plans] == [64, 64, 594, 594, 1518, 1518]


def test_the_heavier_direction_carries_the_load() -> None:
    both = {"name": "both", "role": "load", "rate": "1kpps"}
    more = {"name": "more", "role": "load", "rate": "3kpps", "direction": "unidirectional"}
    plans = _compile(both, more, load_pps=8000)
    assert {plan.name: plan.rate_pps for plan in plans} == {
        "both/0-1": 2000,
        "both/1-0": 2000,
        "more/0-1": 6000,
    }


def test_a_probe_is_taken_out_of_its_load_in_its_direction() -> None:
    plans = _compile(LOAD, PROBE | {"taken_from": "load"})
    assert [plan.rate_pps for plan in plans] == [499_000, 500_000, 1000]
    assert [plan.taken_from for plan in plans] == [None, None, "load/0-1"]


def test_a_probe_takes_nothing_where_its_load_does_not_go() -> None:
    there = LOAD | {"direction": "unidirectional"}
    plans = _compile(there, PROBE | {"taken_from": "load", "direction": "bidirectional"})
    assert [(plan.name, plan.rate_pps, plan.taken_from) for plan in plans] == [
        ("load/0-1", 499_000, None),
        ("probe/0-1", 1000, "load/0-1"),
        ("probe/1-0", 1000, None),
    ]


def test_probes_cannot_take_all_of_a_load(says: Says) -> None:
    with pytest.raises(InputError) as caught:
        _compile(LOAD, PROBE | {"taken_from": "load"}, load_pps=1000)
    assert caught.value == says("1", "load")


def test_a_mix_is_one_stream_of_several_templates() -> None:
    plan, _ = _compile({"name": "mix", "role": "load", "imix": "simple"}, load_pps=12_000)
    assert [len(frame) for frame in plan.frames] == [60, 590, 1514]
    assert sorted(plan.order) == [0] * 7 + [1] * 4 + [2]
    assert plan.rate_pps == 12_000
    assert plan.mean_frame_size == pytest.approx((7 * 64 + 4 * 594 + 1518) / 12)
    assert plan.largest_frame_size == 1518


def test_packets_take_turns_within_each_size() -> None:
    mix = [{"size": 64, "weight": 1}, {"size": 100, "weight": 1}]
    plan, _ = _compile({"name": "garp", "role": "load", "protocol": "GARP", "imix": mix})
    assert [(len(frame), parse(frame).arp[0]) for frame in plan.frames] == [  # type: ignore[index]
        (60, 1),
        (60, 2),
        (96, 1),
        (96, 2),
    ]
    assert plan.order == ()


def test_pacing_is_passed_on_and_a_rate_that_is_not_needed_is_none() -> None:
    free = {"name": "free", "role": "load", "pacing": "back-to-back"}
    floor = {"name": "floor", "role": "latency", "pacing": {"one-in-flight": {"timeout": "5ms"}}}
    burst = {"name": "burst", "role": "load", "pacing": {"burst": 32}}
    plans = _compile(free, floor, burst, load_pps=1000)
    assert [(plan.rate_pps, plan.pacing) for plan in plans[::2]] == [
        (None, Pacing("back-to-back")),
        (None, Pacing("one-in-flight", timeout_us=5000)),
        (1000, Pacing("burst", burst_frames=32)),
    ]


def test_frames_are_built_once_for_all_trials() -> None:
    slower, faster = (_compile(LOAD, load_pps=load)[0] for load in (1000, 2000))
    assert slower.rate_pps != faster.rate_pps
    assert slower.frames is faster.frames


def test_templates_fit_into_one_request(tmp_path: Path) -> None:
    """1700 jumbo frames each way are 30.6 MB."""
    frames = [bytes(12) + b"\x88\xcc" + bytes(8984) + number.to_bytes(2) for number in range(1700)]
    records = [struct.pack("<IIII", 0, 0, 9000, 9000) + frame for frame in frames]
    header = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    path = tmp_path / "jumbo.pcap"
    path.write_bytes(header + b"".join(records))
    with pytest.raises(InputError, match="have 30661200 bytes") as caught:
        _compile({"name": "jumbo", "role": "load", "pcap": str(path)})
    assert caught.value.where == "profile.streams"
    assert caught.value.remedy
    _compile({"name": "jumbo", "role": "load", "pcap": {"file": str(path), "count": 800}})
