"""Probes that ports stamp: which are let through, and as what the engine is to send them."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from plimsoll.errors import InputError
from plimsoll.generator.engine.messages import TRIAL_REPORT, trial_request
from plimsoll.generator.engine.settings import EngineSettings
from plimsoll.generator.engine.timesync import check_timesync, is_ptp
from plimsoll.generator.interface import StampCounts, TrialPlan
from plimsoll.record.trials.stream_record import StreamRecord
from plimsoll.traffic.frames.field_writers import templates
from plimsoll.traffic.plan import Pacing, StreamPlan
from plimsoll.traffic.streams.stream import Stream
from tests.worded.says import Says

ROOT = Path(__file__).parents[4]
# EtherType, Sync of version 2 in 44 bytes, and nothing else that is not zero.
SYNC = bytes.fromhex("020001000001 020000000001 88f7 0002002c".replace(" ", ""))
PROBE = StreamPlan(
    stream=1,
    name="probe/0-1",
    role="latency",
    tx_port=0,
    rx_port=1,
    frames=(SYNC.ljust(76, b"\0"),),
    rate_pps=1000,
    pacing=Pacing("one-in-flight", timeout_us=1000),
)
LOAD = replace(PROBE, stream=0, name="load/0-1", role="load", pacing=Pacing())


def plain(**given: object) -> bytes:
    stream = {"name": "probe", "role": "latency", "rate": "1kpps"} | given
    return templates(Stream.model_validate(stream), reverse=False).frames[0]


def test_a_sync_message_is_what_the_standard_says() -> None:
    frame = plain(protocol="PTP")
    # 14 bytes of Ethernet, 44 of the message, 18 of signature.
    assert frame == SYNC.ljust(76, b"\0")
    assert plain(protocol="PTP", frame_size=128) == SYNC.ljust(124, b"\0")


def test_its_way_back_swaps_its_ends() -> None:
    stream = Stream.model_validate({"name": "p", "role": "load", "protocol": "PTP"})
    (frame,) = templates(stream, reverse=True).frames
    assert frame[:12] == SYNC[6:12] + SYNC[:6]
    assert stream.open_macs(reverse=False) == (True, None)


@pytest.mark.parametrize(
    "wrap", [{"vlan": 5}, {"mpls": [100]}, {"vxlan": {"vni": 1}}, {"gtpu": {"teid": 1}}]
)
def test_it_is_not_wrapped(wrap: dict[str, object], says: Says) -> None:
    with pytest.raises(ValueError) as caught:
        Stream.model_validate({"name": "p", "role": "load", "protocol": "PTP", **wrap})
    assert caught.value == says()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"protocol": "PTP"}, True),
        ({"dst_port": 319}, True),
        ({"src_ip": "2001:2::1", "frame_size": 84, "dst_port": 319}, True),
        ({}, False),
        ({"src_port": 319}, False),
        ({"protocol": "TCP", "frame_size": 76, "dst_port": 319}, False),
        ({"dst_port": 319, "vlan": 5, "frame_size": 68}, False),
        ({"src_ip": "2001:2::1", "frame_size": 84}, False),
    ],
)
def test_what_ports_may_take_for_ptp(given: dict[str, object], expected: bool) -> None:
    assert is_ptp(plain(**given)) is expected


def test_one_probe_stream_each_way_is_let_through() -> None:
    back = replace(PROBE, stream=2, tx_port=1, rx_port=0)
    check_timesync([LOAD, PROBE, back])


@pytest.mark.parametrize(
    ("streams", "facts"),
    [
        ([LOAD], ()),
        ([replace(PROBE, pacing=Pacing())], ()),
        ([replace(PROBE, frames=(bytes(60),))], ()),
        ([PROBE, replace(PROBE, stream=2, rx_port=2)], ("0", "probe/0-1")),
        ([PROBE, replace(PROBE, stream=2, tx_port=2)], ("1", "probe/0-1")),
    ],
)
def test_what_ports_cannot_stamp_is_refused(
    streams: list[StreamPlan], facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(InputError) as refused:
        check_timesync(streams)
    assert refused.value == says(*facts)
    assert refused.value.where == "generator.stamps"
    assert refused.value.remedy
    with pytest.raises(InputError) as again:
        EngineSettings(cpus=(0,), stamps="timesync").streams_sent(tuple(streams), 3)
    assert again.value.message == refused.value.message
    EngineSettings(cpus=(0,)).streams_sent(tuple(streams), 3)


def test_the_engine_is_to_have_probes_stamped_and_no_others() -> None:
    plan = TrialPlan(mark=1, streams=(LOAD, PROBE), duration_s=1, drain_s=0)
    message = trial_request(plan, "timesync")
    schema = json.loads((ROOT / "docs/schemas/engine-protocol.schema.json").read_text())
    published = {"$ref": "#/$defs/trial_request", "$defs": schema["$defs"]}
    jsonschema.Draft202012Validator(published).validate({"id": 1, **message})
    assert [stream.get("stamps") for stream in message["streams"]] == [None, "timesync"]
    for stamps in ("tsc", "hardware"):
        assert "stamps" not in trial_request(plan, stamps)["streams"][1]


def test_what_ports_stamped_is_read_and_recorded(says: Says) -> None:
    lines = (ROOT / "engine/tests/vectors/replies/good-trial-reply.jsonl").read_text().splitlines()
    reports = [TRIAL_REPORT.validate_python(json.loads(line)) for line in lines]
    (counts,) = (each for report in reports for each in report.streams if each.stamps)
    assert counts.stamps == StampCounts(
        stamped=1890, no_tx_stamp=2, no_rx_stamp=5, unmatched=1, error_ns=1730
    )
    record = StreamRecord.of(PROBE, counts, lost=0)
    assert record.stamps is not None
    assert (record.stamps.stamped, record.stamps.error_ns) == (1890, 1730)
    assert record.stamps.sentence == says("1,890", "1,898", "2", "5", "1.73")
    assert StreamRecord.of(PROBE, replace(counts, stamps=None), lost=0).stamps is None
