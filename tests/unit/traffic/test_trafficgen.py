"""The import of bench-trafficgen's profiles."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from plimsoll.errors import InputError
from plimsoll.text.units import Rate
from plimsoll.traffic.imported.flow_mods import parse_flow_mods
from plimsoll.traffic.imported.profile_file import load_profile
from plimsoll.traffic.imported.trafficgen import (
    LatencyProbes,
    TrafficgenProfile,
    import_trafficgen,
)
from plimsoll.traffic.streams.profile import Profile

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
BY_DST_IP = "function:create_flow_mod_object(use_dst_ip_flows=True)"
MINIMAL: dict[str, Any] = {
    "flows": 1024,
    "frame_size": 64,
    "flow_mods": BY_DST_IP,
    "rate": 1_000_000,
    "latency": False,
}


def _import(*streams: dict[str, Any]) -> Profile:
    return import_trafficgen(TrafficgenProfile.model_validate({"streams": list(streams)}))


def _mistake(folder: Path, document: dict[str, Any]) -> str:
    path = folder / "trafficgen.profile"
    path.write_text(json.dumps(document, indent="\t"))
    with pytest.raises(InputError) as caught:
        load_profile(path)
    return str(caught.value).removeprefix(f"{path}:")


def test_the_articles_profile_says_what_the_article_says() -> None:
    load, probe = load_profile(EXAMPLES / "trafficgen.profile.json").streams
    assert (load.role, load.rate, load.flows, load.frame_size, load.direction, load.vary) == (
        "load",
        Rate(29_761_904, "pps"),
        1024,
        64,
        "bidirectional",
        ("dst_ip",),
    )
    assert (probe.role, probe.rate, probe.direction) == (
        "latency",
        Rate(1000, "pps"),
        "unidirectional",
    )
    assert set(load.stream_types) == {"teaching_warmup", "teaching_measurement", "measurement"}


def test_our_own_form_of_it_is_the_same() -> None:
    own = load_profile(EXAMPLES / "article-profile.yaml")
    assert own == load_profile(EXAMPLES / "trafficgen.profile.json")


def test_defaults_are_trafficgens() -> None:
    """latency is on: a probe at 1000 pps, taken out of the load."""
    load, probe = _import({k: v for k, v in MINIMAL.items() if k != "latency"}).streams
    assert (load.name, load.role, load.direction) == ("stream1", "load", "bidirectional")
    assert (probe.name, probe.role, probe.taken_from) == ("stream1-latency", "latency", "stream1")
    assert probe.rate == Rate(1000, "pps")
    assert probe.direction == "bidirectional"


def test_a_stream_for_teaching_alone_is_neither_load_nor_probe() -> None:
    taught = MINIMAL | {"stream_types": ["teaching_warmup"], "latency": True, "rate": 50}
    profile = _import(MINIMAL, taught)
    assert [stream.name for stream in profile.measured_streams] == ["stream1"]
    assert (profile.streams[1].rate, profile.rate_pps) == (Rate(50, "pps"), 1_000_000)


def test_probes_are_no_faster_than_the_latency_rate() -> None:
    only = MINIMAL | {"latency": True, "latency_only": True}
    (probe,) = _import(only).streams
    assert (probe.role, probe.rate) == ("latency", Rate(1000, "pps"))


def test_without_latency_there_is_load_alone() -> None:
    both = TrafficgenProfile.model_validate(
        {
            "streams": [
                MINIMAL | {"latency": True},
                MINIMAL | {"latency": True, "latency_only": True},
            ]
        }
    )
    unmeasured = import_trafficgen(both, probes=LatencyProbes(measured=False))
    assert [(each.name, each.role) for each in unmeasured.streams] == [("stream1", "load")]
    fast = import_trafficgen(both, probes=LatencyProbes(rate_pps=5000))
    assert [each.rate for each in fast.latency_streams] == [Rate(5000, "pps")] * 2


def test_a_profile_is_taken_by_its_name() -> None:
    several = TrafficgenProfile.model_validate(
        {
            "profiles": [
                {"name": "slow", "streams": [MINIMAL]},
                {"name": "fast", "streams": [MINIMAL | {"rate": 2_000_000}]},
            ]
        }
    )
    assert import_trafficgen(several, "fast").rate_pps == 2_000_000
    with pytest.raises(InputError, match=r"there is no profile medium of slow, fast"):
        import_trafficgen(several, "medium")


def test_the_only_profile_needs_no_name() -> None:
    one = {"profiles": [{"name": "a", "streams": [MINIMAL]}]}
    assert import_trafficgen(TrafficgenProfile.model_validate(one)).rate_pps == 1_000_000


def test_a_slow_stream_with_latency_is_all_probe() -> None:
    (probe,) = _import(MINIMAL | {"rate": 300, "latency": True}).streams
    assert (probe.role, probe.rate) == ("latency", Rate(300, "pps"))


def test_the_default_profile_of_several_is_taken() -> None:
    document = {
        "default_profile": "large",
        "profiles": [
            {"name": "small", "streams": [MINIMAL]},
            {"name": "large", "streams": [MINIMAL | {"frame_size": 1518}]},
        ],
    }
    profile = import_trafficgen(TrafficgenProfile.model_validate(document))
    assert [stream.frame_size for stream in profile.streams] == [1518]


def test_streams_that_are_off_are_left_out_whatever_they_are() -> None:
    off = MINIMAL | {"enabled": False, "protocol": "TCP", "frame_type": "garp"}
    assert len(_import(off, MINIMAL).streams) == 1


def test_streams_that_share_an_id_get_names_of_their_own() -> None:
    streams = _import(*[MINIMAL | {"stream_id": "my stream"}] * 2).streams
    assert [stream.name for stream in streams] == ["my_stream", "my_stream-2"]


def test_without_a_varying_field_there_is_one_flow() -> None:
    (stream,) = _import(MINIMAL | {"flow_mods": BY_DST_IP.replace("True", "False")}).streams
    assert (stream.flows, stream.vary) == (1, ())


@pytest.mark.parametrize(
    "field", ["src_mac", "dst_mac", "src_ip", "dst_ip", "src_port", "dst_port"]
)
def test_every_field_takes_as_many_flows_as_trafficgen(field: str) -> None:
    mods = f"function:create_flow_mod_object(use_{field}_flows=True)"
    (stream,) = _import(MINIMAL | {"flows": 65536, "flow_mods": mods}).streams
    assert (stream.flows, stream.vary) == (65536, (field,))


def _mods(*fields: str) -> str:
    uses = ", ".join(f"use_{field}_flows=True" for field in fields)
    return f"function:create_flow_mod_object({uses})"


def test_tcp_frames_hold_their_headers(tmp_path: Path) -> None:
    (stream,) = _import(MINIMAL | {"protocol": "TCP", "frame_size": 76}).streams
    assert (stream.protocol, stream.frame_size) == ("TCP", 76)
    told = _mistake(tmp_path, {"streams": [MINIMAL | {"protocol": "TCP"}]})
    assert "streams[0].frame_size: 64 bytes are too few" in told
    assert "give at least 76 bytes" in told


def test_icmp_has_no_ports_to_vary() -> None:
    mods = _mods("dst_ip", "src_mac", "src_port", "dst_port")
    (stream,) = _import(MINIMAL | {"frame_type": "icmp", "flow_mods": mods}).streams
    assert (stream.protocol, stream.flows, stream.vary) == ("ICMP", 1024, ("src_mac", "dst_ip"))


def test_gratuitous_arp_is_sent_in_both_kinds_at_the_rate_each() -> None:
    garp = MINIMAL | {"frame_type": "garp", "frame_size": 1518, "flow_mods": _mods("src_ip")}
    (stream,) = _import(garp).streams
    assert (stream.protocol, stream.frame_size, stream.vary) == ("GARP", 64, ("src_ip",))
    assert stream.rate == Rate(2_000_000, "pps")
    (unchanging,) = _import(garp | {"flow_mods": _mods("dst_ip")}).streams
    assert (unchanging.flows, unchanging.vary) == (1, ())


def test_flows_that_differ_in_protocol_are_two_streams() -> None:
    """trafficgen halves rate and flows, the flows rounded up."""
    mods = {"flow_mods": _mods("protocol", "dst_ip"), "flows": 1025, "frame_size": 128}
    streams = _import(MINIMAL | mods).streams
    assert [(s.name, s.protocol, s.flows, s.vary, s.rate) for s in streams] == [
        ("stream1-udp", "UDP", 513, ("dst_ip",), Rate(500_000, "pps")),
        ("stream1-tcp", "TCP", 513, ("dst_ip",), Rate(500_000, "pps")),
    ]
    probed = _import(MINIMAL | mods | {"latency": True}).streams
    assert [(s.name, s.taken_from) for s in probed if s.role == "latency"] == [
        ("stream1-udp-latency", "stream1-udp"),
        ("stream1-tcp-latency", "stream1-tcp"),
    ]


_WITHOUT_COUNTERPART: list[tuple[str, object]] = [
    ("offset", 5),
    ("duration", 10),
    ("repeat", True),
    ("repeat_delay", 60),
    ("repeat_flows", False),
    ("the_packet", "scapy:Ether()/IP()"),
    ("device_pairs", ["0:1"]),
    ("stream_types", ["ddos", "measurement"]),
    ("frame_size", 60),
    ("rate", 0),
    ("latency_only", True),
]


@pytest.mark.parametrize(("field", "value"), _WITHOUT_COUNTERPART)
def test_what_has_no_counterpart_is_refused_by_name(
    tmp_path: Path, field: str, value: object
) -> None:
    line, _, told = _mistake(tmp_path, {"streams": [MINIMAL | {field: value}]}).partition(": ")
    assert told.startswith(f"streams[0].{field}: ")
    assert told.endswith(")")
    assert int(line) > 3


@pytest.mark.parametrize(
    ("document", "mistake"),
    [
        ({"streams": []}, "streams"),
        ({"default_profile": "x", "profiles": []}, "profiles"),
        (
            {"default_profile": "x", "profiles": [{"name": "a", "streams": [MINIMAL]}]},
            "default_profile: 'x' is none of the profiles (use one of a)",
        ),
        (
            {"streams": [MINIMAL], "profiles": [{"name": "a", "streams": [MINIMAL]}]},
            "needs either streams or profiles (give one of them)",
        ),
        ({"streams": [MINIMAL | {"enabled": False}]}, "no stream is enabled (enable one)"),
        (
            {"streams": [MINIMAL | {"stream_types": ["teaching_warmup"]}]},
            "no stream is measured (give one the type measurement)",
        ),
        (
            {"profiles": [{"name": each, "streams": [MINIMAL]} for each in "ab"]},
            "it does not say which of a, b (set default_profile, or name one by "
            "--traffic-profile-name)",
        ),
        (
            {"profiles": [{"name": "a", "streams": [MINIMAL]}] * 2},
            "profiles: two profiles are named a (name each its own)",
        ),
        (
            {"streams": [MINIMAL | {"flowz": 1}]},
            "streams[0].flowz: unknown field (did you mean flows?)",
        ),
        (
            {"streams": [{k: v for k, v in MINIMAL.items() if k != "rate"}]},
            "streams[0].rate: is missing (add `rate:`)",
        ),
        ({"streams": [MINIMAL | {"flows": 65537}]}, "streams[0].flows: found 65537"),
        ({"streams": [MINIMAL | {"rate": "1kpps"}]}, "streams[0].rate: found '1kpps'"),
    ],
)
def test_mistakes_are_told(tmp_path: Path, document: dict[str, Any], mistake: str) -> None:
    assert mistake in _mistake(tmp_path, document)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (BY_DST_IP, ("dst_ip",)),
        ("function:create_flow_mod_object()", ()),
        (
            "function:create_flow_mod_object( use_dst_port_flows = True , use_src_mac_flows=True,)",
            ("src_mac", "dst_port"),
        ),
        (
            "function:create_flow_mod_object(use_protocol_flows=True, use_src_ip_flows=False)",
            ("protocol",),
        ),
    ],
)
def test_flow_mods_are_parsed(text: str, fields: tuple[str, ...]) -> None:
    assert parse_flow_mods(text) == fields


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("__import__('os').system('true')", "no call of create_flow_mod_object"),
        ("function:create_flow_mod_object(use_dst_ip_flows=1)", "keyword=True"),
        ("function:create_flow_mod_object(use_dst_ip_flows=True", "no call"),
        ("function:create_flow_mod_object(use_dst_ip_flows=exit())", "keyword=True"),
        ("function:create_flow_mod_object(use_dst_ip_flow=True)", "unknown keyword"),
        (
            "function:create_flow_mod_object(use_dst_ip_flows=True,use_dst_ip_flows=False)",
            "given twice",
        ),
        ("function:create_flow_mod_object(,)", "keyword=True"),
    ],
)
def test_flow_mods_that_are_anything_else_are_refused(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as caught:
        parse_flow_mods(text)
    assert caught.value.remedy


@given(st.text(max_size=200))
def test_any_text_as_flow_mods_is_parsed_or_refused(arguments: str) -> None:
    with suppress(InputError):
        parse_flow_mods(f"function:create_flow_mod_object({arguments})")


_streams = st.fixed_dictionaries(
    {
        "flows": st.integers(1, 65536),
        "frame_size": st.integers(40, 9218),
        "flow_mods": st.sets(
            st.sampled_from(["src_mac", "dst_mac", "src_ip", "dst_ip", "src_port", "dst_port"])
        ).map(
            lambda fields: (
                "function:create_flow_mod_object("
                + ", ".join(f"use_{field}_flows=True" for field in sorted(fields))
                + ")"
            )
        ),
        "rate": st.integers(0, 2**32),
        "latency": st.booleans(),
        "latency_only": st.booleans(),
        "traffic_direction": st.sampled_from(
            ["bidirectional", "unidirectional", "revunidirectional"]
        ),
        "stream_id": st.text(max_size=60),
    }
)


def _has_no_counterpart(stream: dict[str, Any]) -> bool:
    nothing_to_send = stream["latency_only"] and not stream["latency"]
    return stream["frame_size"] < 64 or stream["rate"] == 0 or nothing_to_send


@given(st.lists(_streams, min_size=1, max_size=4))
def test_what_is_imported_sends_what_trafficgen_sends(streams: list[dict[str, Any]]) -> None:
    if any(_has_no_counterpart(stream) for stream in streams):
        with pytest.raises(ValidationError):
            _import(*streams)
        return
    imported = _import(*streams).streams
    # What is taken out of a load adds nothing, and probes are no faster than 1000 pps.
    sent_pps = sum(stream.rate.value for stream in imported if stream.taken_from is None)
    assert sent_pps == sum(
        min(stream["rate"], 1000) if stream["latency_only"] else stream["rate"]
        for stream in streams
    )
    assert len({stream.name for stream in imported}) == len(imported)
