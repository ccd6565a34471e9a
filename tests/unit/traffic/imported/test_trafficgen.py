"""The import of bench-trafficgen's profiles."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from plimsoll.errors import InputError
from plimsoll.text.units import Rate
from plimsoll.traffic.frames.field_writers import templates
from plimsoll.traffic.frames.vary import Variation
from plimsoll.traffic.imported.conversion import LatencyProbes
from plimsoll.traffic.imported.flow_packet import parse_flow_mods
from plimsoll.traffic.imported.trafficgen import TrafficgenProfile, import_trafficgen, load_profile
from plimsoll.traffic.streams.pacing import ScheduleSettings
from plimsoll.traffic.streams.profile import Profile
from plimsoll.traffic.streams.stream import Stream
from tests.worded.says import Says

EXAMPLES = Path(__file__).resolve().parents[4] / "examples"
BY_DST_IP = "function:create_flow_mod_object(use_dst_ip_flows=True)"
MINIMAL: dict[str, Any] = {
    "flows": 1024,
    "frame_size": 64,
    "flow_mods": BY_DST_IP,
    "rate": 1_000_000,
    "latency": False,
}


def _transport(stream: Stream) -> str:
    assert stream.packet is not None
    return stream.packet[2].name


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


def test_a_profile_is_taken_by_its_name(says: Says) -> None:
    several = TrafficgenProfile.model_validate(
        {
            "profiles": [
                {"name": "slow", "streams": [MINIMAL]},
                {"name": "fast", "streams": [MINIMAL | {"rate": 2_000_000}]},
            ]
        }
    )
    assert import_trafficgen(several, "fast").rate_pps == 2_000_000
    with pytest.raises(InputError) as caught:
        import_trafficgen(several, "medium")
    assert caught.value == says("medium", "slow", "fast")


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
    assert stream.flows == 65536
    (varied,) = stream.vary
    if "port" not in field:
        assert varied == field
        return
    # trafficgen has 1000 or 1024 ports where there are more flows.
    assert isinstance(varied, Variation)
    assert (varied.field, varied.count) == (f"UDP.{field[0]}port", 1024)


def _mods(*fields: str) -> str:
    uses = ", ".join(f"use_{field}_flows=True" for field in fields)
    return f"function:create_flow_mod_object({uses})"


def test_tcp_frames_hold_their_headers(tmp_path: Path, says: Says) -> None:
    (stream,) = _import(MINIMAL | {"protocol": "TCP", "frame_size": 76}).streams
    assert (_transport(stream), stream.frame_size) == ("TCP", 76)
    found = _mistake(tmp_path, {"streams": [MINIMAL | {"protocol": "TCP"}]})
    assert found == says("streams[0].frame_size", "64", "70")


def test_a_short_tcp_frame_has_no_probe_next_to_it() -> None:
    """Its 16 bytes of payload have room for a signature without a time."""
    (stream,) = _import(MINIMAL | {"protocol": "TCP", "frame_size": 74, "latency": True}).streams
    assert (stream.role, stream.rate, stream.signature_bytes) == ("load", Rate(1e6, "pps"), 12)


def test_frames_below_ethernets_minimum_are_padded_packets() -> None:
    """40 bytes are less than the headers of UDP; trafficgen sends 42, and the NIC pads them."""
    stream, probe = _import(MINIMAL | {"frame_size": 40, "latency": True}).streams
    for each in (stream, probe):
        (frame,) = templates(each, reverse=False).frames
        assert len(frame) == 60
        packet = Ether(frame)
        assert (packet[IP].len, packet[UDP].len) == (28, 8)
        assert each.mean_frame_size == 64


def test_icmp_has_no_ports_to_vary() -> None:
    mods = _mods("dst_ip", "src_mac", "src_port", "dst_port")
    (stream,) = _import(MINIMAL | {"frame_type": "icmp", "flow_mods": mods}).streams
    assert (_transport(stream), stream.flows) == ("ICMP", 1024)
    assert stream.vary == ("src_mac", "dst_ip")
    # trafficgen pads an echo request without counting the FCS.
    assert stream.frame_size == MINIMAL["frame_size"] + 4


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
    assert [(s.name, _transport(s), s.flows, s.vary, s.rate) for s in streams] == [
        ("stream1-udp", "UDP", 513, ("dst_ip",), Rate(500_000, "pps")),
        ("stream1-tcp", "TCP", 513, ("dst_ip",), Rate(500_000, "pps")),
    ]
    probed = _import(MINIMAL | mods | {"latency": True}).streams
    assert [(s.name, s.taken_from) for s in probed if s.role == "latency"] == [
        ("stream1-udp-latency", "stream1-udp"),
        ("stream1-tcp-latency", "stream1-tcp"),
    ]


_WITHOUT_COUNTERPART: list[tuple[str, object]] = [
    ("the_packet", "scapy:Ether()/IP(dst=__import__('os').getcwd())"),
    ("the_packet", "Ether()/IP()"),
    ("device_pairs", ["0:1"]),
    ("stream_types", ["ddos", "measurement"]),
    ("frame_size", 60),
    ("frame_size", 53),
    ("rate", 0),
    ("latency_only", True),
]


@pytest.mark.parametrize(("field", "value"), _WITHOUT_COUNTERPART)
def test_what_has_no_counterpart_is_refused_by_name(
    tmp_path: Path, field: str, value: object
) -> None:
    line, _, message = _mistake(tmp_path, {"streams": [MINIMAL | {field: value}]}).partition(": ")
    assert message.startswith(f"streams[0].{field}: ")
    assert message.endswith(")")
    assert int(line) > 3


@pytest.mark.parametrize(
    ("document", "facts"),
    [
        ({"streams": []}, ("streams",)),
        ({"default_profile": "x", "profiles": []}, ("profiles",)),
        (
            {"default_profile": "x", "profiles": [{"name": "a", "streams": [MINIMAL]}]},
            ("x", "default_profile", "profiles"),
        ),
        (
            {"streams": [MINIMAL], "profiles": [{"name": "a", "streams": [MINIMAL]}]},
            ("streams", "profiles"),
        ),
        ({"streams": [MINIMAL | {"enabled": False}]}, ("enabled",)),
        (
            {"streams": [MINIMAL | {"stream_types": ["teaching_warmup"]}]},
            (),
        ),
        (
            {"profiles": [{"name": each, "streams": [MINIMAL]} for each in "ab"]},
            ("default_profile", "--traffic-profile-name"),
        ),
        (
            {"profiles": [{"name": "a", "streams": [MINIMAL]}] * 2},
            ("profiles",),
        ),
        (
            {"streams": [MINIMAL | {"flowz": 1}]},
            ("streams[0].flowz",),
        ),
        (
            {"streams": [{k: v for k, v in MINIMAL.items() if k != "rate"}]},
            ("rate:", "streams[0].rate"),
        ),
        ({"streams": [MINIMAL | {"flows": 65537}]}, ("streams[0].flows", "65537")),
        ({"streams": [MINIMAL | {"rate": "1kpps"}]}, ("1kpps", "streams[0].rate")),
    ],
)
def test_mistakes_are_reported(
    tmp_path: Path, document: dict[str, Any], facts: tuple[str, ...], says: Says
) -> None:
    assert _mistake(tmp_path, document) == says(*facts)


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
    ("text", "facts"),
    [
        ("__import__('os').system('true')", ("create_flow_mod_object",)),
        ("function:create_flow_mod_object(use_dst_ip_flows=1)", ("keyword=True",)),
        (
            "function:create_flow_mod_object(use_dst_ip_flows=True",
            (
                "function:create_flow_mod_object(use_dst_ip_flows=True",
                "function:create_flow_mod_object(use_dst_ip_flows=True)",
            ),
        ),
        ("function:create_flow_mod_object(use_dst_ip_flows=exit())", ("keyword=True",)),
        (
            "function:create_flow_mod_object(use_dst_ip_flow=True)",
            ("use_dst_ip_flow", "use_dst_ip_flows"),
        ),
        (
            "function:create_flow_mod_object(use_dst_ip_flows=True,use_dst_ip_flows=False)",
            ("use_dst_ip_flows",),
        ),
        ("function:create_flow_mod_object(,)", ("keyword=True",)),
    ],
)
def test_flow_mods_that_are_anything_else_are_refused(
    text: str, facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(InputError) as caught:
        parse_flow_mods(text)
    assert caught.value == says(*facts)
    assert caught.value.remedy


@given(st.text(max_size=200))
def test_any_text_as_flow_mods_is_parsed_or_refused(arguments: str) -> None:
    with suppress(InputError):
        parse_flow_mods(f"function:create_flow_mod_object({arguments})")


@pytest.mark.parametrize(
    ("segments", "schedule"),
    [
        ({"offset": 60}, {"start": 60}),
        ({"offset": 15, "duration": 270}, {"start": 15, "duration": 270}),
        (
            {"offset": 5, "duration": 10, "repeat": True, "repeat_delay": 30},
            {"start": 5, "duration": 10, "repeat": True, "pause": 30},
        ),
        # The delay is the offset where none is given.
        (
            {"offset": 5, "duration": 10, "repeat": True, "repeat_flows": False},
            {"start": 5, "duration": 10, "repeat": True, "pause": 5},
        ),
        # Repetitions without a pause, and those of a stream without an end, are one.
        ({"duration": 10, "repeat": True, "repeat_delay": 0}, None),
        ({"offset": 5, "repeat": True, "repeat_delay": 3}, {"start": 5}),
        ({"repeat_delay": 3}, None),
    ],
)
def test_segments_are_schedules(segments: dict[str, Any], schedule: dict[str, Any] | None) -> None:
    for stream in _import(MINIMAL | {"latency": True} | segments).streams:
        given = schedule and ScheduleSettings.model_validate(_in_seconds(schedule))
        assert stream.schedule == given


def _in_seconds(schedule: dict[str, Any]) -> dict[str, Any]:
    return {k: f"{v}s" if not isinstance(v, bool) else v for k, v in schedule.items()}


def test_streams_have_ranges_of_their_own() -> None:
    """Three streams of 1024 flows are 3072 flows; those with the same stream_id are the same."""
    by_both = MINIMAL | {"flow_mods": _mods("src_ip", "dst_ip")}
    streams = _import(by_both, by_both, by_both).streams
    assert [(str(s.src_ip), str(s.dst_ip)) for s in streams] == [
        ("10.2.0.0", "10.3.0.0"),
        ("10.4.0.0", "10.5.0.0"),
        ("10.6.0.0", "10.7.0.0"),
    ]
    prefixes = {mac[:11] for s in streams for mac in (s.src_mac, s.dst_mac)}
    assert len(prefixes) == 6
    one, other = _import(*[by_both | {"stream_id": "a"}] * 2).streams
    assert (one.src_ip, one.src_mac) == (other.src_ip, other.src_mac)


def test_a_stream_that_is_off_has_its_range_as_well() -> None:
    (stream,) = _import(MINIMAL | {"enabled": False}, MINIMAL).streams
    assert str(stream.src_ip) == "10.4.0.0"


def test_addresses_that_do_not_vary_are_next_to_each_other() -> None:
    fixed = MINIMAL | {"flow_mods": _mods("src_port")}
    one, other = _import(fixed, fixed).streams
    assert (str(one.src_ip), str(one.dst_ip)) == ("10.0.0.0", "10.1.0.0")
    assert (str(other.src_ip), str(other.dst_ip)) == ("10.0.0.1", "10.1.0.1")


def test_the_same_seed_draws_the_same_addresses() -> None:
    given = TrafficgenProfile.model_validate({"streams": [MINIMAL] * 3})
    assert import_trafficgen(given, seed=42.0) == import_trafficgen(given, seed=42.0)
    assert import_trafficgen(given, seed=42.0) != import_trafficgen(given, seed=43.0)


@pytest.mark.slow
def test_there_are_addresses_for_so_many_streams() -> None:
    assert len(_import(*[MINIMAL] * 127).streams) == 127
    with pytest.raises(InputError, match="networks for 127 streams"):
        _import(*[MINIMAL] * 128)


def test_ddos_streams_are_to_be_filtered() -> None:
    good, bad = _import(MINIMAL, MINIMAL | {"stream_types": ["ddos"], "latency": True}).streams
    assert (good.filtered, bad.filtered, bad.role) == (False, True, "load")
    assert bad.measured


DDOS = "scapy:Ether()/IP(src='10.2.0.0', dst='10.10.0.15')/UDP(sport=32768, dport=53)"


def test_a_written_packet_is_turned_round_as_trafficgen_does() -> None:
    """Addresses change places, ports do not."""
    mods = _mods("src_ip", "src_port")
    (stream,) = _import(MINIMAL | {"the_packet": DDOS, "flow_mods": mods, "flows": 10240}).streams
    (there,) = templates(stream, reverse=False).frames
    (back,) = templates(stream, reverse=True).frames
    assert (Ether(there)[IP].src, Ether(there)[IP].dst) == ("10.2.0.0", "10.10.0.15")
    assert (Ether(back)[IP].src, Ether(back)[IP].dst) == ("10.10.0.15", "10.2.0.0")
    for frame in (there, back):
        assert (Ether(frame)[UDP].sport, Ether(frame)[UDP].dport) == (32768, 53)
    ports = templates(stream, reverse=False).fields[1]
    assert (ports.offset, ports.count) == (34, 1024)


def test_ipv6_has_a_hundred_thousand_flows() -> None:
    packet = "scapy:Ether()/IPv6(src='fd00:1::100', dst='fd00:2::100')/UDP(sport=5000, dport=6000)"
    given = MINIMAL | {"the_packet": packet, "flow_mods": _mods("dst_ip"), "frame_size": 78}
    (stream,) = _import(given).streams
    assert stream.signature_bytes == 12
    many = Stream.model_validate(stream.model_dump() | {"flows": 100_000})
    (field,) = templates(many, reverse=False).fields
    assert field.count == 100_000


def test_a_payload_is_cut_for_the_signature() -> None:
    packet = (
        "scapy:Ether()/IP(src='4.4.4.4', dst='2.2.2.2')/TCP(sport=5, dport=7)/'" + "p" * 69 + "'"
    )
    (stream,) = _import(MINIMAL | {"the_packet": packet, "frame_size": 128}).streams
    (frame,) = templates(stream, reverse=False).frames
    assert len(frame) == 124
    assert frame[54:] == b"p" * 52 + bytes(18)


@pytest.mark.parametrize(
    ("packet", "facts"),
    [
        (DDOS.replace("IP(", "IP()/IP("), ("IPv6",)),
        (DDOS + "/UDP()", ("UDP",)),
    ],
)
def test_packets_whose_layers_trafficgen_makes_alike_are_refused(
    tmp_path: Path, packet: str, facts: tuple[str, ...], says: Says
) -> None:
    assert _mistake(tmp_path, {"streams": [MINIMAL | {"the_packet": packet}]}) == says(*facts)


def test_ports_of_an_odd_number_of_flows_are_refused(tmp_path: Path, says: Says) -> None:
    odd = MINIMAL | {"flows": 1001, "flow_mods": _mods("src_port")}
    assert _mistake(tmp_path, {"streams": [odd]}) == says("streams[0].flow_mods", "1001", "flows")


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
    # Between the longest packet whose padding has room for a signature and the shortest frame
    # whose payload has.
    most_padded = 46 if stream["latency_only"] else 52
    no_room = most_padded < stream["frame_size"] < 64
    ports = "port" in stream["flow_mods"] and stream["flows"] >= 1000
    odd_ports = ports and all(stream["flows"] % each for each in (1000, 1024))
    return no_room or stream["rate"] == 0 or nothing_to_send or odd_ports


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
