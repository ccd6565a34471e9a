"""dpdk-testpmd sends, a real one, through the testpmd of a lab: counted on both sides."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.integration.command import Workplace, assert_nothing_is_left, hugepages
from tests.integration.unspoilt import unspoilt

pytestmark = pytest.mark.skipif(
    shutil.which("dpdk-testpmd") is None or len(os.sched_getaffinity(0)) < 2,
    reason="needs dpdk-testpmd and two CPUs",
)
CPUS = sorted(os.sched_getaffinity(0))[:2]
# What is on its way when flowgen stops may find a full ring; that is no matter of this test.
UNPACED: dict[str, Any] = {
    "lab": {"kind": "testpmd-memif", "cpu": CPUS[1]},
    "generator": {"kind": "testpmd", "cpus": [CPUS[0]]},
    "profile": {
        "streams": [{"name": "load", "role": "load", "flows": 1024, "pacing": "back-to-back"}]
    },
    "criteria": [{"kind": "loss-ratio", "at_most": "50%"}],
    "observe": {"enabled": False},
}


def trial(place: Workplace, **changes: Any) -> dict[str, Any]:
    path = place.experiment(**{**UNPACED, **changes})
    words = ("--load", "1kpps", "--duration", "2s", "--runs", place.runs, "--json")
    done = unspoilt(place, "trial", path, *words)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("kind", ["testpmd", pytest.param("engine", marks=pytest.mark.full)])
def test_the_same_experiment_runs_with_each_generator(place: Workplace, kind: str) -> None:
    before = hugepages()
    record = trial(place, generator={"kind": kind, "cpus": [CPUS[0]]})
    assert record["verdict"] == "pass"
    # Unpaced, a frame every microsecond is little even where the machine is busy.
    assert all(stream["sent"] > 100_000 for stream in record["streams"])
    assert all(stream["received"] > 0 for stream in record["streams"])
    agreed = [each for each in record["findings"] if each["rule"] == "dut-counters"]
    assert len(agreed) == 4
    assert {each["outcome"] for each in agreed} == {"ok"}
    assert_nothing_is_left(place, before)
    if kind == "testpmd":
        assert_it_says_who_sent_and_how(place.only_run())


def assert_it_says_who_sent_and_how(run: Path) -> None:
    environment = json.loads((run / "environment.json").read_text())
    assert environment["versions"]["testpmd"].startswith("DPDK ")
    assert environment["versions"]["engine"] is None
    notes = " ".join(
        note
        for line in (run / "journal.jsonl").read_text().splitlines()
        for note in json.loads(line).get("notes", ())
    )
    assert "unpaced" in notes
    assert "losses are of port counters" in notes


def test_what_it_cannot_do_is_refused_before_anything_is_started(place: Workplace) -> None:
    path = place.experiment(generator={"kind": "testpmd", "cpus": [CPUS[0]]})
    done = place.run("run", path, "--runs", place.runs)
    assert done.returncode == 2
    assert "criterion judges corrupt, which the generator does not measure" in done.stderr
    assert not place.runs.exists()
