"""A whole search through dpdk-testpmd on network cards that QEMU emulates, killed in the middle.

Cards 1 and 2 are testpmd's, which Plimsoll starts, 3 and 4 the tester's; a cable joins card 1 to 3,
and another card 2 to 4. What is shown is that it works, never how fast. Skipped where the parts
are missing; `make vm-nics` fetches them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.command import (
    assert_keeps_to_schema,
    finished_trials,
    journal,
)
from tests.integration.dut.namespace_lab import agreements
from tests.integration.unspoilt import unspoilt_in_guest
from tests.integration.vm.cards_experiment import DUT_CARDS, ON_CARDS, SHORT_SEARCH
from tests.integration.vm.guest import CannotBoot
from tests.integration.vm.nic_guest import CARDS, MODELS, ROOT, NicGuest, booted
from tests.integration.warm_start import run_warm

pytestmark = pytest.mark.full

EXPERIMENT = ON_CARDS | {
    "name": "search",
    "generator": {"kind": "engine", "cpus": [1]},
    "profile": {
        "streams": [
            {"name": "load", "role": "load", "flows": 64},
            {"name": "probe", "role": "latency", "rate": "20pps", "direction": "unidirectional"},
        ]
    },
    "trial": {"drain": "1s", "warmup": None, "catch_up": "1s"},
    "search": SHORT_SEARCH,
}
# Of hugepages that no one has, of files of runs, and of programs: what there is of it.
LEFT = (
    "cat /sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages; ls /dev/hugepages /dev/shm; "
    "ls /run/plimsoll 2>/dev/null; cat /proc/[0-9]*/comm 2>/dev/null | grep -E 'plimsoll|testpmd'; "
    "true"
)


@pytest.fixture(scope="module", params=MODELS)
def guest(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[NicGuest]:
    """One of each kind of cards, by turns, all four given to vfio-pci."""
    try:
        with booted(request.param, tmp_path_factory.mktemp("search")) as guest:
            guest.bind_by_hand(*CARDS.values())
            yield guest
    except CannotBoot as missing:
        pytest.skip(str(missing))


def kill_in_the_search(guest: NicGuest) -> Path:
    """SIGKILL the command in its first search trial; the run directory."""
    (guest.folder / "shared" / "search.yaml").write_text(yaml.safe_dump(EXPERIMENT))
    running = guest.start_plimsoll("run /shared/search.yaml --runs /shared/runs")
    searches = 'grep -q \'"phase": *"search"\' /shared/runs/*/journal.jsonl'
    # Or it has ended before, and there is nothing to kill.
    guest.must(
        f"until {searches} 2>/dev/null; do sleep 0.5; [ ! -e /shared/{running}.status ] || exit; "
        "done; kill -9 $(cat /run/plimsoll.pid)"
    )
    guest.wait(running)
    (run,) = (guest.folder / "shared" / "runs").iterdir()
    return run


def assert_can_be_read_back(run: Path, proof: dict[str, Any]) -> None:
    """Files and checksums agree, the metrics say what the trial's record does; there is a page."""
    checked = run_warm(["runs", "check", run], ROOT, os.environ)
    assert checked.returncode == 0, checked.stderr
    assert "as it was recorded" in checked.stdout
    words = ["--run", run, "--source", "trafficgen", "--output", "json"]
    for metric, frames in {
        "lost-rx-pps": 0,
        "rx-pps": sum(each["received"] for each in proof["streams"]),
    }.items():
        got = run_warm(["metrics", "get", *words, "--type", metric], ROOT, os.environ)
        assert got.returncode == 0, got.stderr
        answer = json.loads(got.stdout)
        (row,), (period,) = answer["rows"], answer["runs"].values()
        seconds = (period["end_ms"] - period["begin_ms"]) / 1000
        assert row["whole_range"] * seconds == pytest.approx(frames, rel=0.01)
    assert (run / "report.html").stat().st_size > 0


def check_trial(trial: dict[str, Any]) -> None:
    """It passed: all that was sent came back, and testpmd's own counters say the same."""
    assert trial["verdict"] == "pass", trial["findings"]
    assert [each["received"] for each in trial["streams"]] == [
        each["sent"] for each in trial["streams"]
    ]
    assert agreements(trial) == ["ok"] * 4


def test_a_search_that_is_killed_leaves_nothing_and_goes_on_to_its_record(guest: NicGuest) -> None:
    before = guest.must(LEFT)
    run = kill_in_the_search(guest)
    guest.must(f"until [ \"$({LEFT})\" = '{before.strip()}' ]; do sleep 0.5; done")
    kept = finished_trials(run)
    assert not (run / "result.json").exists()

    done = unspoilt_in_guest(guest, f"run --resume /shared/runs/{run.name}")
    assert done.status == 0, done.said
    assert guest.must(LEFT) == before
    trials = finished_trials(run)
    assert trials[: len(kept)] == kept
    judged = [trial for trial in trials if trial["phase"] in ("search", "validation")]
    for trial in judged:
        check_trial(trial)
    # The start passes, and so does the highest load there is, which is then proven.
    assert [(trial["phase"], trial["load_pps"]) for trial in judged] == [
        ("search", 100),
        ("search", 200),
        ("validation", 200),
    ]

    result = json.loads((run / "result.json").read_text())
    assert_keeps_to_schema(result, "result")
    assert result["limited_by"] == "maximum"
    assert result["load_line"]["intended_pps_per_direction"] == 200
    ups = [event["lab"] for event in journal(run) if event["kind"] == "lab-up"]
    assert [[word for word in up["argv"] if word in DUT_CARDS] for up in ups] == [DUT_CARDS] * 2

    assert_can_be_read_back(run, judged[-1])
