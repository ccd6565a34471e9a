"""A trial as a real Pktgen 24.07.1 counted it, through the testpmd of a memif lab.

`recordings/pktgen-24.07.1.jsonl` is what conversation, telemetry and sampler gave in a run of
`plimsoll trial`, at 5 kpps for 1 s on one CPU, without the looks while it sent.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from plimsoll.generator.interface import GeneratorRefused, TrialPlan, TrialReport
from plimsoll.generator.pktgen.conversation import FILES, PktgenConversation
from plimsoll.generator.pktgen.generator import Pktgen
from plimsoll.host.processes.child import Child
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.traffic.streams.profile import Profile

REPLAY = Path(__file__).with_name("replayed_pktgen.py")
RECORDING = Path(__file__).parent / "recordings" / "pktgen-24.07.1.jsonl"
LOAD = {"name": "load", "role": "load", "flows": 32, "direction": "bidirectional"}
PROBE = {
    "name": "probe",
    "role": "latency",
    "rate": "100pps",
    "frame_size": 84,
    "direction": "unidirectional",
}
DEVARGS = ("net_memif0,role=client", "net_memif1,role=client")


@contextmanager
def replayed(folder: Path, burst: int = 32) -> Iterator[Pktgen]:
    def start(terminal: int, pipes: tuple[int, int]) -> Child:
        return Child.start(
            (sys.executable, str(REPLAY), str(RECORDING), str(folder / "socket"), str(folder)),
            log=folder / "log",
            environment={FILES: ",".join(map(str, pipes))},
            terminal=terminal,
            inherited=pipes,
        )

    conversation = PktgenConversation(start)
    pktgen = Pktgen(conversation, folder, burst)
    pktgen.started.callback(conversation.close)
    try:
        pktgen.open(DEVARGS, folder / "socket", 10.0)
        yield pktgen
    finally:
        pktgen.close()
        assert not conversation.child.identity.alive


def trial(pktgen: Pktgen, load_pps: float, **changes: object) -> TrialReport:
    profile = Profile.model_validate({"streams": [{**LOAD, **changes}, PROBE]})
    streams = compile_profile(profile, load_pps, ((0, 1), (1, 0)))
    plan = TrialPlan(mark=1, streams=streams, duration_s=1.0, drain_s=0.3, interval_s=2.0)
    return pktgen.trial(plan, lambda _: False)


def test_a_real_pktgen_counts_as_it_was_seen(tmp_path: Path) -> None:
    with replayed(tmp_path) as pktgen:
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


def test_what_it_never_accepted_is_not_sent(tmp_path: Path) -> None:
    with replayed(tmp_path) as pktgen, pytest.raises(GeneratorRefused, match="recorded was"):
        trial(pktgen, 6000.0)


def test_flows_that_it_would_not_send_are_refused(tmp_path: Path) -> None:
    with replayed(tmp_path) as pktgen, pytest.raises(GeneratorRefused, match="has 33 flows"):
        trial(pktgen, 5000.0, flows=33)


def test_more_than_the_link_claims_is_refused(tmp_path: Path) -> None:
    with (
        replayed(tmp_path, burst=32) as pktgen,
        pytest.raises(GeneratorRefused, match="more than port 0 claims"),
    ):
        # Of 64 bytes 100 Gbit/s has 148.8 million a second.
        trial(pktgen, 150e6)


def test_the_recording_is_whole() -> None:
    entries = [json.loads(line) for line in RECORDING.read_text().splitlines()]
    requests = [each["request"] for each in entries if "request" in each]
    assert requests[0] == "its start"
    assert {"call start 0,1", "call stop 0,1"} < set(requests)
    assert requests[-2:] == ["call latency 1 off", "latency 1"]
