"""`plimsoll run` next to a process that takes the engine's CPU: no load line, and who it was."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.integration.command import Workplace, assert_keeps_to_schema, finished_trials

CPU = 0
NAME = "hog-of-a-cpu"
# It says who it is once it is pinned, and then never sleeps.
HOG = f"""
import os
os.sched_setaffinity(0, {{{CPU}}})
open("/proc/self/comm", "w").write({NAME!r})
print("ready", flush=True)
while True:
    pass
"""


@pytest.fixture
def hog() -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen([sys.executable, "-c", HOG], stdout=subprocess.PIPE, text=True)
    # A quarter of the CPU next to the engine's loop, which is put before ordinary programs.
    os.setpriority(os.PRIO_PROCESS, process.pid, -15)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    yield process
    process.kill()
    process.wait()


@pytest.mark.full
def test_who_took_the_cpu_is_in_the_reason(place: Workplace, hog: subprocess.Popen[str]) -> None:
    experiment = place.experiment(
        generator={"kind": "engine", "cpus": [CPU]},
        tester={"max_stalled_share": "1%"},
        search={
            "strategy": "binary",
            "minimum": "1kpps",
            "maximum": "8kpps",
            "granularity": "50%",
            "duration": "500ms",
            "retries": 0,
            "validation": {"duration": "1s", "retries": 0},
        },
    )
    done = place.run("run", experiment, "--runs", place.runs, "--json")
    assert done.returncode == 5, done.stderr
    result = json.loads(done.stdout)
    assert_keeps_to_schema(result, "result")
    assert result["load_line"] is None
    first = result["diagnosis"]["sentences"][0]
    assert first.startswith(f"CPU {CPU}: your polling loop waited ")
    assert f"{NAME} (pid {hog.pid}) ran there " in first
    assert "generator.cpus" in result["diagnosis"]["remedy"]
    invalid = [each for each in finished_trials(place.only_run()) if each["verdict"] == "invalid"]
    assert {each["pid"] for trial in invalid for each in trial["schedule"]["others"]} >= {hog.pid}
    waited = [t["wait_ns"] for trial in invalid for t in trial["schedule"]["threads"]]
    assert max(waited) > 0
    page = (place.only_run() / "report.html").read_text()
    assert "No load line: could not test" in page
    assert f"{NAME} (pid {hog.pid})" in page
