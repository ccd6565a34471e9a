"""trafgen sends through the kernel's bridge: counted by its interfaces and by the DUT's."""

from __future__ import annotations

import json
import os
import shutil
from typing import Any

import pytest

from tests.integration.command import Workplace, assert_nothing_is_left, hugepages
from tests.integration.unspoilt import unspoilt

CPUS = sorted(os.sched_getaffinity(0))[:2]
pytestmark = pytest.mark.skipif(
    shutil.which("trafgen") is None or os.getuid() != 0 or len(CPUS) < 2,
    reason="needs trafgen (netsniff-ng), root and two CPUs",
)


# Back to back the kernel's backlog overflows as soon as somebody else has the CPU.
@pytest.mark.parametrize(
    "pacing", ["constant", pytest.param("back-to-back", marks=pytest.mark.full)]
)
def test_frames_pass_a_bridge_and_are_counted_on_both_sides(place: Workplace, pacing: str) -> None:
    before = hugepages()
    path = place.experiment(
        lab={"kind": "linux-bridge", "cpu": CPUS[1]},
        generator={"kind": "kernel", "cpus": [CPUS[0]]},
        profile={"streams": [{"name": "load", "role": "load", "flows": 16, "pacing": pacing}]},
        # A busy machine may keep the kernel's backlog from being emptied in time.
        criteria=[{"kind": "loss-ratio", "at_most": "100%"}],
        observe={"enabled": False},
    )
    words = ("trial", path, "--load", "1kpps", "--duration", "2s", "--runs", place.runs, "--json")
    done = unspoilt(place, *words)
    assert done.returncode == 0, done.stderr
    record: dict[str, Any] = json.loads(done.stdout)
    # Paced, 2000 are due; the tester's limits allow half.
    assert all(stream["sent"] >= 1000 for stream in record["streams"])
    assert all(stream["received"] > 0 for stream in record["streams"])
    agreed = [each for each in record["findings"] if each["rule"] == "dut-counters"]
    assert len(agreed) == 4
    assert {each["outcome"] for each in agreed} == {"ok"}
    assert_nothing_is_left(place, before)
