"""A real Pktgen-DPDK sends through the testpmd of a lab, where there is one.

`PLIMSOLL_PKTGEN` names the program, built with Lua.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
from typing import Any

import pytest

from tests.integration.command import (
    Workplace,
    assert_keeps_to_schema,
    assert_nothing_is_left,
    hugepages,
    searching,
)
from tests.integration.unspoilt import unspoilt

PROGRAM = os.environ.get("PLIMSOLL_PKTGEN", "")
CPUS = sorted(os.sched_getaffinity(0))[:2]
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(
        not os.access(PROGRAM, os.X_OK) or shutil.which("dpdk-testpmd") is None,
        reason="needs a Pktgen-DPDK, named in PLIMSOLL_PKTGEN, and dpdk-testpmd",
    ),
]
LOAD = {"name": "load", "role": "load", "flows": 32}
PROBE = {"name": "probe", "role": "latency", "rate": "20pps", "frame_size": 84}
# On one CPU two loops take turns of some ms, which no burst makes up for.
TESTER = {"rate_tolerance": "70%", "runtime_tolerance": "50%", "max_own_share": "100%"}


def behind_testpmd(**changes: Any) -> dict[str, Any]:
    return {
        "lab": {"kind": "testpmd-memif", "cpu": CPUS[1]},
        "generator": {"kind": "pktgen", "program": PROGRAM, "cpus": [CPUS[0]]},
        "profile": {"streams": [LOAD, PROBE]},
        "tester": TESTER,
        "criteria": [{"kind": "loss-ratio"}],
        **changes,
    }


def test_it_sends_through_a_testpmd(place: Workplace) -> None:
    before = hugepages()
    path = place.experiment(**behind_testpmd(observe={"enabled": False}))
    words = ("--load", "5kpps", "--duration", "2s", "--runs", place.runs, "--json")
    done = unspoilt(place, "trial", path, *words)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert_keeps_to_schema(record, "trial-record")
    loads = [each for each in record["streams"] if each["name"].startswith("load")]
    probes = [each for each in record["streams"] if each["name"].startswith("probe")]
    assert len(loads) == len(probes) == 2
    # Due are 10,000 and 40.
    assert all(3_000 <= each["sent"] <= 10_300 and each["lost"] == 0 for each in loads)
    assert all(10 <= each["received"] <= 45 for each in probes)
    # The first is not timed, and none was lost.
    assert all(each["latency"]["count"] == each["received"] - 1 for each in probes)
    assert all(each["latency"]["count"] == 0 for each in loads)
    agreed = [each for each in record["findings"] if each["rule"] == "dut-counters"]
    assert {each["outcome"] for each in agreed} == {"ok"}
    assert_nothing_is_left(place, before)


def test_more_flows_than_it_sends_are_refused(place: Workplace) -> None:
    before = hugepages()
    path = place.experiment(**behind_testpmd(profile={"streams": [{**LOAD, "flows": 1024}]}))
    done = place.run("trial", path, "--load", "5kpps", "--duration", "1s", "--runs", place.runs)
    assert done.returncode != 0
    assert "has 1024 flows" in done.stderr
    assert_nothing_is_left(place, before)


def test_a_killed_run_leaves_none(place: Workplace) -> None:
    before = hugepages()
    process = searching(place, place.experiment(**behind_testpmd()))
    assert place.processes("pktgen")
    process.kill()
    process.communicate()
    assert_nothing_is_left(place, before)


@pytest.mark.parametrize(
    ("number", "said"),
    [(signal.SIGKILL, "SIGKILL"), (signal.SIGSTOP, "Pktgen (pid")],
)
def test_one_that_dies_or_hangs_ends_the_run(
    place: Workplace, number: signal.Signals, said: str
) -> None:
    before = hugepages()
    process = searching(place, place.experiment(**behind_testpmd()))
    (victim, *_) = place.processes("pktgen")
    os.kill(victim, number)
    _, stderr = process.communicate(timeout=300)
    assert process.returncode == 5
    assert said in stderr
    assert_nothing_is_left(place, before)
