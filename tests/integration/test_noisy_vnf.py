"""dpdk-testpmd as a network function that works on memory and holds frames back."""

import json

import pytest

from tests.integration.command import Workplace, journal

NOISY = {
    "lookup_megabytes": 16,
    "reads": 2,
    "writes": 2,
    "reads_writes": 4,
    "queued_frames": 64,
    "flush_ms": 1,
}


@pytest.mark.full
def test_frames_pass_a_noisy_network_function(place: Workplace) -> None:
    lab = {"kind": "testpmd-memif", "cpu": 1, "forwarding": "noisy", "noisy": NOISY}
    done = place.run(
        *("trial", place.experiment(lab=lab), "--load", "2kpps", "--duration", "1s", "--json"),
        *("--runs", place.runs),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for counts in json.loads(done.stdout)["streams"]:
        assert counts["sent"] == counts["received"] > 0
    (up,) = [event for event in journal(place.only_run()) if event["kind"] == "lab-up"]
    assert "--noisy-lkup-num-reads-writes=4" in up["facts"]["argv"]
    assert "--forward-mode=noisy" in up["facts"]["argv"]
