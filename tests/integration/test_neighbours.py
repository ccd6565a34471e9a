"""Noise next to the trials of a real lab: it runs, says what it did, and leaves nothing.

What it does to rates and latencies is not judged here.
"""

import json
import shutil

import pytest

from tests.integration.command import (
    Workplace,
    assert_goes_on,
    assert_keeps_to_schema,
    assert_nothing_is_left,
    finished_trials,
    hugepages,
    until,
)

pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(shutil.which("stress-ng") is None, reason="stress-ng is not installed"),
]
TIMER = {"kind": "stress-ng", "stressor": "timer", "frequency": "1kHz", "cpus": [1]}
MEMORY = {"kind": "memory", "working_set": "4MiB", "rate": "50MB/s", "cpus": [1]}


@pytest.mark.slow
def test_what_the_neighbours_did_is_in_the_record(place: Workplace) -> None:
    before = hugepages()
    experiment = place.experiment(noise=[TIMER, MEMORY])
    words = ("trial", experiment, "--load", "1kpps", "--duration", "1s", "--runs", place.runs)
    done = place.run(*words)
    # 5 where others had the tester's CPU.
    assert done.returncode in (0, 1, 5), done.stderr
    run = place.only_run()
    (trial,) = (each for each in finished_trials(run) if each["phase"] == "single")
    assert_keeps_to_schema(trial, "trial-record")
    timer, memory = trial["noise"]
    assert (timer["name"], timer["unit"]) == ("stress-ng timer", "bogo-ops/s")
    assert timer["intensity"] > 0
    assert (memory["name"], memory["unit"]) == ("memory random 4 MiB", "B/s")
    assert memory["intensity"] > 0
    assert [each["ended_early"] for each in trial["noise"]] == [None, None]
    done_ = place.run(
        *(
            "metrics",
            "get",
            "--run",
            run,
            "--source",
            "noise",
            "--type",
            "bytes-sec",
            "--output",
            "json",
        )
    )
    assert done_.returncode == 0, done_.stderr
    assert json.dumps(memory["intensity"])[:6] in done_.stdout
    assert "memory random 4 MiB" in (run / "report.html").read_text()
    assert_nothing_is_left(place, before)


@pytest.mark.full
def test_a_killed_run_leaves_no_neighbour(place: Workplace) -> None:
    before = hugepages()
    process = place.start("run", place.experiment(noise=[TIMER]), "--runs", place.runs)

    def disturbed() -> bool:
        assert_goes_on(process)
        # The one that starts the workers, and a worker.
        return len(place.processes("stress-ng")) > 1

    until(disturbed, "stress-ng to run next to a trial")
    process.kill()
    process.communicate()
    assert_nothing_is_left(place, before)
