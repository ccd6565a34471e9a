"""What Python says to the engine, against the published schema that the engine's tests hold too."""

import json
from pathlib import Path

import jsonschema

from plimsoll.generator.engine_messages import INTERVAL, TRIAL_REPORT, open_request, trial_request
from plimsoll.generator.interface import TrialPlan
from plimsoll.generator.settings import EngineSettings
from plimsoll.traffic.plan import FieldWriter, StreamPlan

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
        descriptors=1024,
        link_wait_s=5,
        max_frame_bytes=1514,
    )
    assert_valid({"id": 1, **message}, "open_request")
    assert message["ports"][1] == {"devargs": "0000:87:00.0", "descriptors": 1024}


def test_a_trial_request_is_as_published_and_whole() -> None:
    stream = StreamPlan(
        stream=3,
        name="load/0-1",
        role="load",
        tx_port=0,
        rx_port=1,
        frame=bytes(range(60)),
        rate_pps=5e5,
        fields=(FieldWriter(offset=30, width=4, flows=1024, step=2, fixes=(24, 40)),),
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
            "frame": bytes(range(60)).hex(),
            "rate_pps": 5e5,
            "fields": [{"offset": 30, "width": 4, "flows": 1024, "step": 2, "fixes": [24, 40]}],
        }
    ]
    assert (message["mark"], message["duration_s"], message["interval_s"]) == (77, 2.5, 0.5)


def test_every_published_interval_and_trial_reply_is_understood() -> None:
    for line in (VECTORS / "good-interval-event.jsonl").read_text().splitlines():
        sent = json.loads(line)
        interval = INTERVAL.validate_python(sent)
        assert interval.index == sent["index"]
        assert [counts.sent for counts in interval.streams] == [
            counts["sent"] for counts in sent["streams"]
        ]
    for line in (VECTORS / "good-trial-reply.jsonl").read_text().splitlines():
        sent = json.loads(line)
        report = TRIAL_REPORT.validate_python(sent)
        assert report.ended_by == sent["ended_by"]
        assert [len(worker.longest) for worker in report.workers] == [
            len(worker["longest"]) for worker in sent["workers"]
        ]
