"""A real MoonGen sends through a bridge, where there is one.

`PLIMSOLL_MOONGEN` names the folder of a MoonGen that was built.
"""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from plimsoll.generator.moongen.settings import BINARY, PROGRAM
from tests.integration.command import Workplace, assert_nothing_is_left, hugepages, searching
from tests.integration.unspoilt import unspoilt

TREE = Path(os.environ.get("PLIMSOLL_MOONGEN", "/nowhere"))
CPUS = sorted(os.sched_getaffinity(0))[:2]
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(
        not os.access(TREE / BINARY, os.X_OK) or os.geteuid() != 0,
        reason="needs a MoonGen, whose folder PLIMSOLL_MOONGEN names, and root",
    ),
]


def through_a_bridge() -> dict[str, Any]:
    return {
        "lab": {"kind": "linux-bridge", "cpu": CPUS[1]},
        "generator": {"kind": "moongen", "tree": str(TREE), "cpus": [CPUS[0]]},
        "profile": {"streams": [{"name": "load", "role": "load", "flows": 64}]},
        # Two loops share a CPU.
        "tester": {"rate_tolerance": "70%", "runtime_tolerance": "50%", "max_own_share": "100%"},
        "criteria": [{"kind": "loss-ratio"}],
        "observe": {"enabled": False},
    }


def test_it_sends_through_a_bridge(place: Workplace) -> None:
    before = hugepages()
    path = place.experiment(**through_a_bridge())
    words = ("--load", "5kpps", "--duration", "2s", "--runs", place.runs, "--json")
    done = unspoilt(place, "trial", path, *words)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    # Due are 10,000 each way, of which those of stalls are dropped.
    assert all(each["sent"] >= 3_000 and not each["lost"] for each in record["streams"])
    agreed = [each for each in record["findings"] if each["rule"] == "dut-counters"]
    assert {each["outcome"] for each in agreed} == {"ok"}
    assert_nothing_is_left(place, before)


def test_probes_on_interfaces_that_do_not_stamp_are_refused_before_a_trial(
    place: Workplace,
) -> None:
    probe = {"name": "probe", "role": "latency", "protocol": "PTP", "rate": "10pps"}
    streams = [*through_a_bridge()["profile"]["streams"], probe | {"pacing": "one-in-flight"}]
    path = place.experiment(**through_a_bridge() | {"profile": {"streams": streams}})
    refused = place.run("trial", path, "--load", "5kpps", "--duration", "2s", "--runs", place.runs)
    assert refused.returncode == 3
    said = " ".join(refused.stderr.split())
    assert "probe/0-1 is to be timed, and MoonGen reads no stamps of port 0, net_af_" in said
    assert " by net_af_packet" in said


def test_a_killed_run_leaves_none(place: Workplace) -> None:
    before = hugepages()
    process = searching(place, place.experiment(**through_a_bridge()))
    assert place.processes(PROGRAM)
    process.kill()
    process.communicate()
    assert_nothing_is_left(place, before)


@pytest.mark.parametrize(
    ("number", "said"),
    [(signal.SIGKILL, "SIGKILL"), (signal.SIGSTOP, "did not answer")],
)
def test_one_that_dies_or_hangs_ends_the_run(
    place: Workplace, number: signal.Signals, said: str
) -> None:
    before = hugepages()
    process = searching(place, place.experiment(**through_a_bridge()))
    (victim, *_) = place.processes(PROGRAM)
    os.kill(victim, number)
    _, stderr = process.communicate(timeout=300)
    assert process.returncode == 5
    assert said in stderr
    assert_nothing_is_left(place, before)
