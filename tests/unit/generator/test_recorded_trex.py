"""A trial as a real TRex v3.08 counted it, through the testpmd of a memif lab.

`recordings/trex-v3.08.jsonl` is the dialogue with `driver.py` in front of it, without the looks
while it sent and without the counters that are not read.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from plimsoll.generator.interface import GeneratorRefused, TrialPlan, TrialReport
from plimsoll.generator.trex.client import TrexClient
from plimsoll.generator.trex.generator import StlTrex
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.traffic.streams.profile import Profile

REPLAY = Path(__file__).with_name("replayed_trex.py")
RECORDING = Path(__file__).parent / "recordings" / "trex-v3.08.jsonl"
STREAMS = [
    {
        "name": "load",
        "role": "load",
        "frame_size": 64,
        "flows": 1024,
        "vary": ["dst_ip"],
        "direction": "bidirectional",
    },
    {
        "name": "probe",
        "role": "latency",
        "rate": "1000pps",
        "frame_size": 64,
        "direction": "unidirectional",
    },
]


def trial(folder: Path, load_pps: float) -> tuple[StlTrex, TrialReport]:
    python = folder / "python"
    python.write_text(f"#!/bin/sh\nexec {sys.executable} {REPLAY} {RECORDING}\n")
    python.chmod(0o700)
    client = TrexClient(str(python), folder, folder / "client.log", {})
    trex = StlTrex.connect(client, "127.0.0.1", (4501, 4500), 2, take=False)
    streams: tuple[StreamPlan, ...] = compile_profile(
        Profile.model_validate({"streams": STREAMS}), load_pps, ((0, 1), (1, 0))
    )
    plan = TrialPlan(mark=1, streams=streams, duration_s=1.0, drain_s=0.5, interval_s=2.0)
    try:
        return trex, trex.trial(plan, lambda _: False)
    finally:
        trex.close()


def test_a_real_trex_counts_as_it_was_seen(tmp_path: Path) -> None:
    trex, report = trial(tmp_path, 20_000.0)
    assert trex.version == "v3.08"
    assert [port.driver for port in trex.ports] == ["net_memif", "net_memif"]
    assert all(port.link_up for port in trex.ports)
    forward, backward, probe = report.streams
    # It is longer where this machine took the process its CPU away.
    assert report.ended_by == "duration"
    assert report.sending_s >= 1.0
    # As the DUT counted on its ports: 21,002 and 20,001.
    assert (forward.sent, backward.sent, probe.sent) == (20_001, 20_001, 1001)
    assert (forward.missing, backward.missing, probe.missing) == (0, 0, 0)
    assert [port.foreign for port in report.ports] == [0, 0]
    assert probe.latency.count == probe.received
    assert probe.latency.min_ns < 1_000_000 < probe.latency.max_ns
    assert (forward.latency.count, probe.duplicate, probe.out_of_order) == (0, 0, 0)


def test_what_it_never_accepted_is_not_sent(tmp_path: Path) -> None:
    with pytest.raises(GeneratorRefused, match="recorded was"):
        trial(tmp_path, 30_000.0)


def test_the_recording_is_whole() -> None:
    asked = [json.loads(line)["request"]["do"] for line in RECORDING.read_text().splitlines()]
    assert asked[0] == "connect"
    assert asked[-1] == "close"
