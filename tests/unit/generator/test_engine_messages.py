"""What Python says to the engine, against the published schema that the engine's tests hold too."""

import contextlib
import json
import re
from dataclasses import asdict
from ipaddress import ip_address
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.generator.engine.hosts import Hosts, HostSettings
from plimsoll.generator.engine.messages import (
    CAPTURE_COUNTS,
    TRIAL_REPORT,
    capture_request,
    link_request,
    open_request,
    read_message,
    resolve_request,
    trial_request,
)
from plimsoll.generator.engine.settings import EngineSettings
from plimsoll.generator.interface import CaptureCounts, CapturePlan, Interval, TrialPlan
from plimsoll.traffic.plan import CapturedGaps, FieldWriter, Pacing, StreamPlan

ROOT = Path(__file__).parents[3]
SCHEMA = json.loads((ROOT / "docs/schemas/engine-protocol.schema.json").read_text())
VECTORS = ROOT / "engine/tests/vectors"


def assert_valid(message: object, kind: str) -> None:
    schema = {"$ref": f"#/$defs/{kind}", "$defs": SCHEMA["$defs"]}
    jsonschema.Draft202012Validator(schema).validate(message)


def test_an_open_request_is_as_published() -> None:
    message = open_request(
        huge=True,
        megabytes=128,
        main_cpus=[0, 1],
        workers=EngineSettings(cpus=(0,)).layout(2),
        devargs=["net_ring0", "0000:87:00.0"],
        stamps="hardware",
        descriptors=1024,
        link_wait_s=5,
        max_frame_bytes=1514,
    )
    assert_valid({"id": 1, **message}, "open_request")
    assert message["ports"][1] == {
        "devargs": "0000:87:00.0",
        "descriptors": 1024,
        "stamps": "hardware",
    }
    assert message["workers"] == [{"cpu": 0, "tx": [[0, 0], [1, 0]], "rx": [[0, 0], [1, 0]]}]


def test_captures_are_as_published() -> None:
    captures = (CapturePlan(0, "/a", 9, 64, on=False), CapturePlan(1, "/b", 100))
    message = trial_request(
        TrialPlan(mark=1, streams=(), duration_s=1, drain_s=0, captures=captures)
    )
    assert_valid({"id": 1, **message}, "trial_request")
    assert message["captures"] == [
        {"port": 0, "path": "/a", "most_frames": 9, "on": False, "snap_bytes": 64},
        {"port": 1, "path": "/b", "most_frames": 100, "on": True},
    ]
    for path in (None, "/c"):
        assert_valid({"id": 1, **capture_request(1, on=True, path=path)}, "capture_request")
    assert "path" not in capture_request(1, on=True, path=None)


@pytest.mark.parametrize("up", [True, False])
def test_a_link_is_requested(*, up: bool) -> None:
    request = link_request(1, up=up)
    assert request == {"request": "link", "port": 1, "up": up}
    assert_valid({"id": 1, **request}, "link_request")


def test_counts_of_captures_are_read() -> None:
    lines = (VECTORS / "replies/good-capture-reply.jsonl").read_text().splitlines()
    full = CaptureCounts(1, 1000, 12, "No space left on device")
    assert CAPTURE_COUNTS.validate_python(json.loads(lines[1])) == full
    lines = (VECTORS / "replies/good-trial-reply.jsonl").read_text().splitlines()
    reports = [TRIAL_REPORT.validate_python(json.loads(line)) for line in lines]
    counts = (CaptureCounts(0, 1000, 12), CaptureCounts(1, 7, 3, "No space left on device"))
    assert [report.captures for report in reports if report.captures] == [counts]


def test_hosts_and_whom_they_ask_for_are_as_published() -> None:
    host = HostSettings.model_validate({"port": 1, "addresses": "192.0.2.2/24", "vlan": 5})
    message = open_request(
        huge=False,
        megabytes=128,
        main_cpus=[0],
        workers=EngineSettings(cpus=(0,)).layout(2),
        devargs=["net_ring0", "net_ring1"],
        stamps="tsc",
        descriptors=1024,
        link_wait_s=5,
        max_frame_bytes=1514,
        hosts=Hosts([host]),
    )
    assert_valid({"id": 1, **message}, "open_request")
    assert "host" not in message["ports"][0]
    assert message["ports"][1]["host"] == {"addresses": ["192.0.2.2"], "vlan": 5}
    asked = resolve_request([(1, ip_address("192.0.2.1")), (1, ip_address("2001:db8::1"))])
    assert_valid({"id": 2, **asked}, "resolve_request")
    assert asked["neighbours"][1] == {"port": 1, "address": "2001:db8::1"}


def test_a_trial_request_is_as_published_and_whole() -> None:
    stream = StreamPlan(
        stream=3,
        name="load/0-1",
        role="load",
        tx_port=0,
        rx_port=1,
        frames=(bytes(range(60)), bytes(64)),
        order=(0, 0, 1),
        rate_pps=5e5,
        pacing=Pacing(kind="burst", burst_frames=8),
        frame_count=1000,
        tx_queue=2,
        fields=(
            FieldWriter(offset=30, width=4, count=1024, step=2, fixes=(24, 40)),
            FieldWriter(offset=14, width=2, count=2, kind="list", values=(7, 9), mask=0x0FFF),
            FieldWriter(offset=34, width=2, count=9, kind="random", seed=5, first=3),
        ),
    )
    plan = TrialPlan(mark=77, streams=(stream,), duration_s=2.5, drain_s=0.1, interval_s=0.5)
    message = trial_request(plan)
    assert_valid({"id": 1, **message}, "trial_request")
    assert message["streams"] == [
        {
            "stream": 3,
            "role": "load",
            "tx_port": 0,
            "rx_port": 1,
            "tx_queue": 2,
            "frames": [bytes(range(60)).hex(), bytes(64).hex()],
            "order": [0, 0, 1],
            "rate_pps": 5e5,
            "pacing": {"kind": "burst", "frames": 8},
            "frame_count": 1000,
            "fields": [
                {
                    "offset": 30,
                    "width": 4,
                    "kind": "increment",
                    "count": 1024,
                    "first": 0,
                    "step": 2,
                    "fixes": [24, 40],
                },
                {
                    "offset": 14,
                    "width": 2,
                    "kind": "list",
                    "count": 2,
                    "first": 0,
                    "step": 1,
                    "values": [7, 9],
                    "mask": "0fff",
                    "fixes": [],
                },
                {
                    "offset": 34,
                    "width": 2,
                    "kind": "random",
                    "count": 9,
                    "first": 3,
                    "step": 1,
                    "seed": 5,
                    "fixes": [],
                },
            ],
        }
    ]
    assert (message["mark"], message["duration_s"], message["interval_s"]) == (77, 2.5, 0.5)


@pytest.mark.parametrize(
    ("pacing", "rate_pps", "said"),
    [
        (Pacing(), 10.0, {"kind": "constant"}),
        (Pacing(kind="poisson", seed=4), 10.0, {"kind": "poisson", "seed": 4}),
        (
            Pacing(kind="captured", gaps=CapturedGaps((5, 0, 7))),
            10.0,
            {"kind": "captured", "gaps_ns": [5, 0, 7]},
        ),
        (Pacing(kind="back-to-back"), None, {"kind": "back-to-back"}),
        (
            Pacing(kind="one-in-flight", timeout_us=250.0),
            None,
            {"kind": "one-in-flight", "timeout_us": 250.0},
        ),
    ],
)
def test_each_pacing_is_as_published(
    pacing: Pacing, rate_pps: float | None, said: dict[str, object]
) -> None:
    stream = StreamPlan(0, "load/0-0", "load", 0, 0, (bytes(60),), rate_pps, pacing=pacing)
    message = trial_request(TrialPlan(mark=1, streams=(stream,), duration_s=1, drain_s=0))
    assert_valid({"id": 1, **message}, "trial_request")
    assert message["streams"][0]["pacing"] == said


def named(message: dict[str, object]) -> dict[str, object]:
    return {name: message[name] for name in ("event", "id")}


def test_every_published_interval_and_trial_reply_is_understood() -> None:
    for line in (VECTORS / "events/good-interval-event.jsonl").read_text().splitlines():
        sent = json.loads(line)
        interval = read_message(line.encode())
        assert isinstance(interval, Interval)
        # What is left out of what was read is `event` and `id` alone.
        read = {**json.loads(json.dumps(asdict(interval))), **named(sent)}
        for port in read["ports"]:
            # Of a port without a host nothing is said.
            if not port["host"]:
                del port["host"]
        for stream in read["streams"]:
            # Flows are in the trial's reply alone, and stamps those of streams that have them.
            assert stream.pop("flows") is None
            assert stream.pop("delayed_ends") is None
            if stream["stamps"] is None:
                del stream["stamps"]
        assert read == sent
    for line in (VECTORS / "replies/good-trial-reply.jsonl").read_text().splitlines():
        sent = json.loads(line)
        report = TRIAL_REPORT.validate_python(sent)
        assert report.ended_by == sent["ended_by"]
        assert [len(worker.longest) for worker in report.workers] == [
            len(worker["longest"]) for worker in sent["workers"]
        ]
        flows = [None if each.flows is None else asdict(each.flows) for each in report.streams]
        assert json.loads(json.dumps(flows)) == [each.get("flows") for each in sent["streams"]]
        ends = [each.delayed_ends and asdict(each.delayed_ends) for each in report.streams]
        assert json.loads(json.dumps(ends)) == [e.get("delayed_ends") for e in sent["streams"]]


@pytest.mark.parametrize("name", ["hello-event", "open-reply", "trial-reply", "error-reply"])
def test_other_messages_are_read_as_they_are(name: str) -> None:
    lines = next(VECTORS.rglob(f"good-{name}.jsonl")).read_text().splitlines()
    assert lines
    assert [read_message(line.encode()) for line in lines] == [json.loads(line) for line in lines]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"", "truncated"),
        (b"[1,2]", "Expected `object`"),
        (b'{"event":"interval"}', "missing required field `index`"),
        (b'{"event":"interval","index":"one"}', "`$.index`"),
        (b'{"event":7}', "`$.event`"),
        (b'{"id":1,"ok":tru}', "malformed"),
        (b"\xff", "malformed"),
    ],
)
def test_what_is_no_message_is_refused_with_the_place(line: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        read_message(line)


@given(st.binary(max_size=300))
def test_whatever_bytes_come_they_are_read_or_refused(line: bytes) -> None:
    with contextlib.suppress(ValueError):
        assert isinstance(read_message(line), Interval | dict)
