"""Profiles in Plimsoll's own form: what is accepted, and how mistakes are reported."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from plimsoll.errors import InputError
from plimsoll.traffic.imported.trafficgen import load_profile
from plimsoll.traffic.streams.profile import Profile
from plimsoll.traffic.streams.stream import Stream
from tests.worded.says import Says

LOAD: dict[str, Any] = {"name": "load", "role": "load", "flows": 1024}
PROBE: dict[str, Any] = {"name": "probe", "role": "latency", "rate": "1000pps"}


def _mistake(folder: Path, *streams: dict[str, Any]) -> str:
    path = folder / "profile.yaml"
    path.write_text(yaml.safe_dump({"streams": list(streams)}, sort_keys=False))
    with pytest.raises(InputError) as caught:
        load_profile(path)
    return str(caught.value).removeprefix(f"{path}:")


def test_a_profile_is_read_with_its_defaults(tmp_path: Path) -> None:
    path = tmp_path / "profile.yaml"
    path.write_text(yaml.safe_dump({"streams": [LOAD, PROBE]}))
    profile = load_profile(path)
    load, probe = profile.streams
    assert (load.frame_size, load.flows, load.vary, load.direction) == (
        64,
        1024,
        ("dst_ip",),
        "bidirectional",
    )
    assert str(load.src_ip).startswith("198.18.")
    assert str(load.dst_ip).startswith("198.19.")
    assert (probe.role, probe.rate.value) == ("latency", 1000)
    assert profile.load_streams == (load,)
    assert profile.latency_streams == (probe,)
    assert profile.rate_pps is None
    assert profile.notes() == []


@pytest.mark.parametrize(
    ("changes", "facts"),
    [
        (
            {"frame_size": 60},
            ("streams[0].frame_size", "60", "64", "40", "52"),
        ),
        (
            {"frame_size": 9219},
            ("streams[0].frame_size", "9219", "9218"),
        ),
        (
            {"flows": 65535},
            ("streams[0].flows", "65535", "dst_ip", "65534", "198.19.0.1"),
        ),
        (
            {"flows": 3, "vary": ["src_port"], "src_port": 65534, "direction": "unidirectional"},
            ("streams[0].flows", "3", "src_port", "2", "65534"),
        ),
        (
            {"flows": 2, "vary": []},
            ("streams[0].vary", "2", "flows", "dst_ip"),
        ),
        (
            {"protocol": "TCP"},
            ("streams[0].frame_size", "64", "70"),
        ),
        (
            {"frame_sise": 64},
            ("streams[0].frame_sise", "frame_size"),
        ),
        ({"rate": "0x"}, ("streams[0].rate", "0x")),
        (
            {"rate": "60%"},
            ("streams[0].rate", "60%", "1.0x"),
        ),
        (
            {"taken_from": "load"},
            ("streams[0].taken_from", "load"),
        ),
        (
            {"stream_types": ["ddos", "measurement"]},
            ("streams[0].stream_types", "ddos", "measurement"),
        ),
        (
            {"schedule": {}},
            ("streams[0].schedule",),
        ),
        (
            {"schedule": {"start": "5s", "pause": "5s"}},
            ("streams[0].schedule.pause",),
        ),
        (
            {"schedule": {"start": "5s", "repeat": True}},
            ("streams[0].schedule.repeat",),
        ),
        (
            {"schedule": {"duration": "5s", "repeat": True}},
            ("streams[0].schedule.pause", "5s", "repeat"),
        ),
        (
            {"src_mac": "12:34"},
            ("12:34", "streams[0].src_mac", "aa:bb:cc:dd:ee:ff"),
        ),
    ],
)
def test_a_mistake_is_reported_with_field_and_remedy(
    tmp_path: Path, changes: dict[str, Any], facts: tuple[str, ...], says: Says
) -> None:
    line, _, message = _mistake(tmp_path, LOAD | changes).partition(": ")
    assert message == says(*facts)
    assert int(line) > 1


_NO_MIX = (
    "is not a valid mix (use simple, csit, vsperf, RFC 6985's letters a to i, or sizes with "
    "weights, as in [{size: 64, weight: 7}])"
)
_NO_TAG = "is not a valid VLAN tag (write its number, such as 100, or {id: 100, priority: 5})"
_NO_VALUES = "(write increment, random, or a list of 1 to 4096 whole numbers or addresses)"


@pytest.mark.parametrize(
    ("changes", "facts"),
    [
        ({"frame_size": True}, ("frame_size",)),
        ({"frame_size": "64"}, ("64", "frame_size")),
        ({"frame_size": 64.0}, ("frame_size", "64.0")),
        ({"flows": "5"}, ("5", "flows")),
        ({"prefix": True}, ("prefix",)),
        ({"src_port": "80"}, ("80", "src_port")),
        ({"mpls": [True]}, ("mpls[0]",)),
        ({"mpls": 5}, ("mpls[0]", "5", "16")),
        ({"mpls": "100"}, ("100", "[0, 1]", "mpls")),
        ({"vlan": "100"}, ("100", "vlan")),
        ({"vlan": [5, True]}, ("vlan[1]",)),
        ({"vlan": 4095}, ("vlan[0].id", "4095", "4094")),
        ({"imix": True}, ("imix",)),
        ({"imix": 64}, ("imix", "64")),
        ({"imix": [{"size": True}]}, ("imix[0].size",)),
        (
            {"stream_types": "measurement"},
            ("measurement", "stream_types", "[measurement]"),
        ),
        (
            {"vary": [{"field": "IP.ttl", "values": []}]},
            ("vary[0].values",),
        ),
        (
            {"vary": [{"field": "IP.ttl", "values": [1.5]}]},
            ("vary[0].values", "[1.5]"),
        ),
        (
            {"vary": [{"field": "IP.ttl", "values": "up"}]},
            ("up", "vary[0].values"),
        ),
        (
            {"vary": 5},
            ("vary", "5"),
        ),
    ],
)
def test_a_value_of_another_kind_is_reported_once(
    tmp_path: Path, changes: dict[str, Any], facts: tuple[str, ...], says: Says
) -> None:
    message = _mistake(tmp_path, LOAD | changes).partition(": ")[2]
    assert message.startswith("streams[0].")
    assert message == says(*facts)


def test_one_label_and_one_varying_field_need_no_list() -> None:
    larger = LOAD | {"frame_size": 128}
    plain = Stream.model_validate(larger | {"mpls": 100, "vary": "src_ip"})
    assert plain == Stream.model_validate(larger | {"mpls": [100], "vary": ["src_ip"]})


def test_a_probe_needs_a_fixed_rate(tmp_path: Path, says: Says) -> None:
    message = _mistake(tmp_path, LOAD, PROBE | {"rate": "1x"})
    assert message == says("streams[1].rate", "1x")


def test_names_differ(tmp_path: Path, says: Says) -> None:
    assert _mistake(tmp_path, LOAD, LOAD) == says("1")


def test_weights_and_rates_do_not_mix(tmp_path: Path, says: Says) -> None:
    other = LOAD | {"name": "other", "rate": "5kpps"}
    assert _mistake(tmp_path, LOAD, other) == says("1")


def test_a_probe_is_taken_from_a_load_stream(tmp_path: Path, says: Says) -> None:
    message = _mistake(tmp_path, LOAD, PROBE | {"taken_from": "lod"})
    assert message == says("lod")


def test_the_reverse_direction_needs_addresses_too(says: Says) -> None:
    """It varies the other end's address."""
    close_to_the_end = {"src_ip": "198.18.255.250", "flows": 100}
    Stream.model_validate(LOAD | close_to_the_end | {"direction": "unidirectional"})
    for direction in ("bidirectional", "revunidirectional"):
        with pytest.raises(ValidationError) as caught:
            Stream.model_validate(LOAD | close_to_the_end | {"direction": direction})
        assert caught.value == says("src_ip", "5")


def test_a_wider_network_has_more_addresses() -> None:
    wide = {"src_ip": "10.0.0.1", "dst_ip": "11.0.0.1", "prefix": 8, "flows": 2**24 - 2}
    assert Stream.model_validate(LOAD | wide).flows == 16_777_214


def test_rate_and_size_are_those_of_the_load() -> None:
    small = {"name": "small", "role": "load", "rate": "3kpps", "frame_size": 64}
    large = {"name": "large", "role": "load", "rate": "1kpps", "frame_size": 1518}
    profile = Profile.model_validate({"streams": [small, large, PROBE]})
    assert profile.rate_pps == 4000
    assert profile.mean_frame_size == pytest.approx((3 * 64 + 1518) / 4)
    assert profile.largest_frame_size == 1518


def _load(name: str, rate: str, frame_size: int, direction: str) -> dict[str, object]:
    return {
        "name": name,
        "role": "load",
        "rate": rate,
        "frame_size": frame_size,
        "direction": direction,
    }


@pytest.mark.parametrize(
    ("loads", "mean"),
    [
        # Forward 3 kpps of 64 bytes, reverse 1 kpps of 1518.
        (
            [("a", "3kpps", 64, "unidirectional"), ("b", "1kpps", 1518, "revunidirectional")],
            64,
        ),
        (
            [("a", "1kpps", 64, "unidirectional"), ("b", "3kpps", 1518, "revunidirectional")],
            1518,
        ),
        # In reverse both: (2 * 64 + 2 * 1000) / 4.
        (
            [("a", "2kpps", 64, "bidirectional"), ("b", "2kpps", 1000, "revunidirectional")],
            532,
        ),
        # As many frames both ways: those that fill the line first.
        (
            [("a", "1.0x", 64, "unidirectional"), ("b", "1.0x", 1518, "revunidirectional")],
            1518,
        ),
    ],
)
def test_the_frame_size_is_that_of_the_heaviest_direction(
    loads: list[tuple[str, str, int, str]], mean: float
) -> None:
    profile = Profile.model_validate({"streams": [*(_load(*each) for each in loads), PROBE]})
    assert profile.mean_frame_size == pytest.approx(mean)


def test_the_frame_size_of_probes_alone_is_theirs() -> None:
    profile = Profile.model_validate({"streams": [PROBE | {"frame_size": 128}]})
    assert profile.mean_frame_size == 128


def test_a_profile_survives_being_written_and_read() -> None:
    given = [LOAD | {"vary": ["src_ip", "dst_port"]}, PROBE | {"taken_from": "load"}]
    profile = Profile.model_validate({"streams": given})
    assert Profile.model_validate(profile.model_dump(mode="json")) == profile


def test_a_mix_counts_with_its_mean(says: Says) -> None:
    mixed = {"name": "mix", "role": "load", "imix": "simple"}
    profile = Profile.model_validate({"streams": [mixed, PROBE]})
    assert profile.mean_frame_size == pytest.approx((7 * 64 + 4 * 594 + 1518) / 12)
    assert profile.largest_frame_size == 1518
    assert profile.notes() == [says("mix", "7", "64", "4", "594", "1", "1518", "361.8")]


def test_frames_without_a_rate_count_alike() -> None:
    free = {"role": "load", "pacing": "back-to-back"}
    streams = [free | {"name": "a"}, free | {"name": "b", "frame_size": 128}]
    profile = Profile.model_validate({"streams": streams})
    assert profile.mean_frame_size == 96
    assert profile.rate_pps is None
    assert [stream.name for stream in profile.paced_by_the_port] == ["a", "b"]


@pytest.mark.parametrize(
    ("changes", "facts"),
    [
        ({"pacing": "back-to-back", "rate": "5kpps"}, ("rate", "back-to-back")),
        (
            {"pacing": "one-in-flight"},
            ("pacing",),
        ),
        ({"imix": "simple", "frame_size": 64}, ("imix", "frame_size")),
        ({"imix": "aag", "protocol": "TCP"}, ("imix", "64")),
    ],
)
def test_what_does_not_go_together_is_reported(
    tmp_path: Path, changes: dict[str, Any], facts: tuple[str, ...], says: Says
) -> None:
    assert _mistake(tmp_path, LOAD | changes) == says("streams[0]", *facts)


@pytest.mark.parametrize(
    ("changes", "facts"),
    [
        ({"pacing": "back-to-back", "rate": None}, ("pacing", "back-to-back")),
        ({"rate": None}, ("rate", "1000pps")),
        (
            {"pacing": "one-in-flight", "rate": None, "taken_from": "load"},
            ("taken_from", "rate"),
        ),
    ],
)
def test_what_no_probe_does_is_reported(
    tmp_path: Path, changes: dict[str, Any], facts: tuple[str, ...], says: Says
) -> None:
    assert _mistake(tmp_path, LOAD, PROBE | changes) == says("streams[1]", *facts)


def test_something_has_to_be_measured(tmp_path: Path, says: Says) -> None:
    message = _mistake(tmp_path, LOAD | {"stream_types": ["teaching_warmup"]})
    assert message == says("1")


def test_streams_for_teaching_alone_are_neither_load_nor_probe() -> None:
    taught = LOAD | {"name": "taught", "frame_size": 1518, "stream_types": ["teaching_warmup"]}
    profile = Profile.model_validate({"streams": [LOAD, PROBE, taught]})
    assert [stream.name for stream in profile.measured_streams] == ["load", "probe"]
    assert [stream.name for stream in profile.load_streams] == ["load"]
    assert profile.mean_frame_size == 64


def test_all_that_a_stream_may_say_survives_being_written_and_read() -> None:
    one_in_flight = {"pacing": {"one-in-flight": {"timeout": "250ms"}}, "rate": None}
    everything = {
        "vlan": [5, {"id": 6, "priority": 1}],
        "mpls": [100],
        "vxlan": {"vni": 7},
        "imix": [{"size": 200, "weight": 3}, {"size": 9000}],
        "vary": ["dst_ip", {"field": "IP[1].dst", "values": ["10.0.0.1"]}],
        "pacing": {"poisson": {"seed": 9}},
        "src_ip": "2001:2::1",
    }
    profile = Profile.model_validate({"streams": [LOAD | everything, PROBE | one_in_flight]})
    assert Profile.model_validate(profile.model_dump(mode="json")) == profile
