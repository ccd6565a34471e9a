"""A trial as a real MoonGen counted it, through a bridge of the kernel's.

`recordings/moongen-7746ff2.jsonl` is the conversation in a run of `plimsoll trial`, at 5 kpps for
1 s on one CPU, without the looks while it sent.
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

LOAD = {"name": "load", "role": "load", "flows": 64, "direction": "bidirectional"}


@pytest.fixture
def moongen(tmp_path: Path) -> Iterator[MoonGen]:
    with replayed("moongen-7746ff2.jsonl", tmp_path) as conversation:
        moongen = MoonGen(conversation, tmp_path, "7746ff2", burst=16)
        moongen.open(("net_af_packet0,iface=a", "net_af_packet1,iface=b"), 10.0)
        yield moongen


def trial(moongen: MoonGen, load_pps: float) -> TrialReport:
    profile = Profile.model_validate({"streams": [LOAD]})
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
