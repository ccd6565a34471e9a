"""Trials as a real MoonGen counted and timed them.

`recordings/moongen-7746ff2.jsonl` is the conversation in a run of `plimsoll trial` through a bridge
of the kernel's, at 5 kpps for 1 s on one CPU, without the looks while it sent.
`moongen-7746ff2-igb.jsonl` is one on emulated cards, through dpdk-testpmd on two others, at 100 pps
and 20 probes a second, with the files that MoonGen wrote.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.generator.interface import GeneratorRefused, TrialPlan, TrialReport
from plimsoll.generator.moongen.generator import MoonGen
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.traffic.streams.profile import Profile
from tests.unit.generator.script_replay import replayed
from tests.worded.says import Says

CARDS = ("0000:03:00.0", "0000:04:00.0")
PROBE = {
    "name": "probe",
    "role": "latency",
    "protocol": "PTP",
    "rate": "20pps",
    "pacing": {"one-in-flight": {"timeout": "500ms"}},
}
LOAD = {"name": "load", "role": "load", "flows": 64, "direction": "bidirectional"}


@pytest.fixture
def moongen(tmp_path: Path) -> Iterator[MoonGen]:
    with replayed("moongen-7746ff2.jsonl", tmp_path) as conversation:
        moongen = MoonGen(conversation, tmp_path, "7746ff2", burst=16)
        moongen.open(("net_af_packet0,iface=a", "net_af_packet1,iface=b"), 10.0)
        yield moongen


def trial(moongen: MoonGen, load_pps: float, *probes: dict[str, object]) -> TrialReport:
    profile = Profile.model_validate({"streams": [LOAD, *probes]})
    streams = compile_profile(profile, load_pps, ((0, 1), (1, 0)))
    plan = TrialPlan(mark=1, streams=streams, duration_s=1.0, drain_s=0.3, interval_s=2.0)
    return moongen.trial(plan, lambda _: False)


def test_a_real_moongen_counts_as_it_was_seen(moongen: MoonGen) -> None:
    assert [port.driver for port in moongen.ports] == ["net_af_packet", "net_af_packet"]
    report = trial(moongen, 5000.0)
    forward, backward = report.streams
    assert report.ended_by == "duration"
    # As the bridge counted on its ports.
    assert (forward.sent, backward.sent) == (6352, 6352)
    assert (forward.missing, backward.missing) == (0, 0)
    assert all(port.link_up for port in report.ports)


def test_what_it_never_accepted_is_not_sent(moongen: MoonGen) -> None:
    with pytest.raises(GeneratorRefused, match="recorded was"):
        trial(moongen, 6000.0)


def test_a_real_moongen_times_as_it_wrote(tmp_path: Path) -> None:
    with replayed("moongen-7746ff2-igb.jsonl", tmp_path) as conversation:
        moongen = MoonGen(conversation, tmp_path, "7746ff2", burst=16)
        moongen.open(CARDS, 10.0)
        assert [port.driver for port in moongen.ports] == ["net_e1000_igb"] * 2
        assert {port.latency_clock for port in moongen.ports} == {"timesync"}
        report = trial(moongen, 100.0, PROBE)
    *loads, forward, backward = report.streams
    assert [(each.sent, each.missing) for each in loads] == [(288, 0), (288, 0)]
    assert [(each.sent, each.missing) for each in (forward, backward)] == [(62, 0), (61, 0)]
    assert (forward.latency.count, backward.latency.count) == (62, 61)
    assert (forward.latency.min_ns, backward.latency.min_ns) == (17_125, 16_854)
    # 17,125, 17,145, 17,164 and 17,635 ns.
    assert forward.latency_us[0] == (17, 4)
    assert not any(each.latency.count for each in loads)


def test_without_stamps_of_its_ports_probes_are_not_sent(moongen: MoonGen, says: Says) -> None:
    with pytest.raises(GeneratorRefused) as caught:
        trial(moongen, 5000.0, PROBE)
    assert caught.value == says("0", "net_af_packet0")
