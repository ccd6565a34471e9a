"""From a profile to streams as the engine sends them; frames are read with Scapy."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from plimsoll.errors import InputError
from plimsoll.traffic.compile import compile_profile
from plimsoll.traffic.plan import FieldWriter, StreamPlan
from plimsoll.traffic.profile import Profile

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


def test_the_reverse_direction_swaps_the_ends() -> None:
    forward, reverse = (Ether(plan.frame) for plan in _compile(LOAD))
    assert (forward.src, forward[IP].src, forward[UDP].sport) == (
        reverse.dst,
        reverse[IP].dst,
        reverse[UDP].dport,
    )
    assert forward[IP].src.startswith("198.18.")
    assert reverse[IP].src.startswith("198.19.")


def test_one_way_streams_take_their_path() -> None:
    reverse = LOAD | {"name": "back", "direction": "revunidirectional"}
    plans = _compile(LOAD | {"direction": "unidirectional"}, reverse)
    assert [(plan.tx_port, plan.rx_port) for plan in plans] == [(0, 1), (1, 0)]


def test_a_direction_without_a_path_is_an_error() -> None:
    profile = Profile.model_validate({"streams": [LOAD | {"direction": "revunidirectional"}]})
    with pytest.raises(InputError, match="load is revunidirectional") as caught:
        compile_profile(profile, 1000, ((0, 0),))
    assert caught.value.where == "lab.paths"
    assert caught.value.remedy


def test_load_streams_share_the_load_by_weight() -> None:
    small = {"name": "small", "role": "load", "rate": "7x"}
    middle = {"name": "middle", "role": "load", "rate": "4x", "frame_size": 594}
    large = {"name": "large", "role": "load", "rate": "1x", "frame_size": 1518}
    plans = _compile(small, middle, large, load_pps=12_000)
    assert [plan.rate_pps for plan in plans] == [7000, 7000, 4000, 4000, 1000, 1000]
    assert [plan.frame_size for plan in plans] == [64, 64, 594, 594, 1518, 1518]


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


def test_probes_cannot_take_all_of_a_load() -> None:
    with pytest.raises(InputError, match="probes take 1 kpps out of stream load") as caught:
        _compile(LOAD, PROBE | {"taken_from": "load"}, load_pps=1000)
    assert caught.value.remedy == "use a higher load or slower probes"


def test_one_flow_writes_nothing() -> None:
    assert _compile(PROBE)[0].fields == ()


def test_the_seed_methodologys_flows_change_the_destination_address() -> None:
    assert _compile(LOAD)[0].fields == (FieldWriter(30, 4, 1024, 1, (24, 40)),)


def _written(plan: StreamPlan, number: int) -> bytes:
    """Frame `number` by the engine protocol's words; checksums by Scapy."""
    frame = bytearray(plan.frame)
    for writer in plan.fields:
        place = slice(writer.offset, writer.offset + writer.width)
        value = int.from_bytes(frame[place]) + number % writer.flows * writer.step
        frame[place] = value.to_bytes(writer.width)
    return bytes(frame)


_FIELDS = ["src_mac", "dst_mac", "src_ip", "dst_ip", "src_port", "dst_port"]


@given(st.sets(st.sampled_from(_FIELDS), min_size=1), st.integers(2, 60_000), st.data())
def test_flows_change_the_fields_asked_for_and_no_others(
    vary: set[str], flows: int, data: st.DataObject
) -> None:
    number = data.draw(st.integers(1, flows - 1))
    stream = LOAD | {"flows": flows, "vary": sorted(vary), "direction": "unidirectional"}
    (plan,) = _compile(stream)
    first, later = (
        {
            "src_mac": int(frame.src.replace(":", ""), 16),
            "dst_mac": int(frame.dst.replace(":", ""), 16),
            "src_ip": int.from_bytes(bytes(map(int, frame[IP].src.split(".")))),
            "dst_ip": int.from_bytes(bytes(map(int, frame[IP].dst.split(".")))),
            "src_port": frame[UDP].sport,
            "dst_port": frame[UDP].dport,
        }
        for frame in (Ether(plan.frame), Ether(_written(plan, number)))
    )
    assert {field: later[field] - first[field] for field in _FIELDS} == {
        field: number if field in vary else 0 for field in _FIELDS
    }


@given(st.sets(st.sampled_from(_FIELDS), min_size=1))
def test_fixes_name_exactly_the_checksums_that_change(vary: set[str]) -> None:
    stream = LOAD | {"flows": 2, "vary": sorted(vary), "direction": "unidirectional"}
    (plan,) = _compile(stream)
    for writer in plan.fields:
        alone = StreamPlan(0, "", "load", 0, 1, plan.frame, 1.0, (writer,))
        parsed = Ether(_written(alone, 1))
        stale = (parsed[IP].chksum, parsed[UDP].chksum)
        del parsed[IP].chksum, parsed[UDP].chksum
        fresh = Ether(bytes(parsed))
        changed = {
            offset
            for offset, before, after in zip(
                (24, 40), stale, (fresh[IP].chksum, fresh[UDP].chksum), strict=True
            )
            if before != after
        }
        assert changed == set(writer.fixes)
