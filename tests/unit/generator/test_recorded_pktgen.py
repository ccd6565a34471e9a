"""A trial as a real Pktgen 24.07.1 counted it, through the testpmd of a memif lab.

`recordings/pktgen-24.07.1.jsonl` is what conversation, telemetry and sampler gave in a run of
`plimsoll trial`, at 5 kpps for 1 s on one CPU, without the looks while it sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.generator.interface import GeneratorRefused, TrialPlan, TrialReport
from plimsoll.generator.pktgen.generator import Pktgen
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.traffic.streams.profile import Profile
from tests.unit.generator.script_replay import RECORDINGS, replayed
from tests.worded.says import Says

RECORDING = "pktgen-24.07.1.jsonl"
LOAD = {"name": "load", "role": "load", "flows": 32, "direction": "bidirectional"}
PROBE = {
    "name": "probe",
    "role": "latency",
    "rate": "100pps",
    "frame_size": 84,
    "direction": "unidirectional",
}
DEVARGS = ("net_memif0,role=client", "net_memif1,role=client")


@pytest.fixture
def pktgen(tmp_path: Path) -> Iterator[Pktgen]:
    with replayed(RECORDING, tmp_path) as conversation:
        pktgen = Pktgen(conversation, tmp_path, burst=32)
        pktgen.open(DEVARGS, tmp_path / "socket", 10.0)
        yield pktgen
        pktgen.close()


def trial(pktgen: Pktgen, load_pps: float, **changes: object) -> TrialReport:
    profile = Profile.model_validate({"streams": [{**LOAD, **changes}, PROBE]})
    streams = compile_profile(profile, load_pps, ((0, 1), (1, 0)))
    plan = TrialPlan(mark=1, streams=streams, duration_s=1.0, drain_s=0.3, interval_s=2.0)
    return pktgen.trial(plan, lambda _: False)


def test_a_real_pktgen_counts_as_it_was_seen(pktgen: Pktgen) -> None:
    assert (pktgen.version, pktgen.dpdk) == ("24.07.1", "22.11.11")
    assert [port.driver for port in pktgen.ports] == ["net_memif", "net_memif"]
    assert [port.link_mbps for port in pktgen.ports] == [100_000, 100_000]
    report = trial(pktgen, 5000.0)
    forward, backward, probe = report.streams
    assert report.ended_by == "duration"
    # As the DUT counted on its ports: 4,551 and 4,482. Of 71 probes the first is not timed.
    assert (forward.sent, backward.sent, probe.sent) == (4480, 4482, 71)
    assert (forward.missing, backward.missing, probe.missing) == (0, 0, 0)
    assert (probe.latency.count, forward.latency.count) == (70, 0)
    assert probe.latency.min_ns is not None
    assert 1_000_000 < probe.latency.min_ns < 8_000_000
    assert all(port.link_up for port in report.ports)


def test_what_it_never_accepted_is_not_sent(pktgen: Pktgen) -> None:
    with pytest.raises(GeneratorRefused, match="recorded was"):
        trial(pktgen, 6000.0)


def test_flows_that_it_would_not_send_are_refused(pktgen: Pktgen) -> None:
    with pytest.raises(GeneratorRefused, match="has 33 flows"):
        trial(pktgen, 5000.0, flows=33)


def test_more_than_the_link_claims_is_refused(pktgen: Pktgen, says: Says) -> None:
    # Of 64 bytes 100 Gbit/s has 148.8 million a second.
    with pytest.raises(GeneratorRefused) as caught:
        trial(pktgen, 150e6)
    assert caught.value == says("0")


def test_the_recording_is_whole() -> None:
    entries = [json.loads(line) for line in (RECORDINGS / RECORDING).read_text().splitlines()]
    requests = [each["request"] for each in entries if "request" in each]
    assert requests[0] == "its start"
    assert {"call start 0,1", "call stop 0,1"} < set(requests)
    assert requests[-2:] == ["call latency 1 off", "latency 1"]
