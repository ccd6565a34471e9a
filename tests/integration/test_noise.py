"""`plimsoll osnoise` for real: a disturbance of ours is found and named; a kill leaves nothing."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from plimsoll.host.cpus import allowed_cpus
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.ledger.trace_instance import trace_instance
from tests.integration import noise_thief
from tests.integration.command import (
    Workplace,
    assert_keeps_to_schema,
    assert_nothing_is_left,
    hugepages,
    until,
    workplace,
)

pytestmark = pytest.mark.alone

CPU = max(allowed_cpus())
THIEF = "noise-thief"
# The kernel's and the thief's clocks are read some us apart, and a thread is on its CPU before
# it reads its first time and after its last.
SLACK_NS = 1_000_000


@dataclass(frozen=True)
class Disturbed:
    """A measurement of 3 s, and the visits of the thief that were in it or around it."""

    result: dict[str, Any]
    exit_code: int
    visits: list[tuple[int, int]]

    @property
    def thefts(self) -> list[dict[str, Any]]:
        """The longest stalls in which the thief had the CPU."""
        return [each for each in self.result["worst"] if names_of(each) & {THIEF}]


def names_of(stall: dict[str, Any]) -> set[str]:
    return {cause["name"] for cause in stall["causes"] if cause["kind"] == "task"}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Workplace]:
    with workplace(tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def disturbed(tmp_path_factory: pytest.TempPathFactory) -> Disturbed:
    thief = subprocess.Popen(
        [sys.executable, noise_thief.__file__, str(CPU), THIEF],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    before = hugepages()
    with workplace(tmp_path_factory.mktemp("noise")) as place:
        words = ("--cpus", CPU, "--duration", "3s", "--max", "1ms", "--json")
        done = place.run("osnoise", *words)
        said, _ = thief.communicate()
        if thief.returncode == noise_thief.REFUSED:
            pytest.skip("real-time scheduling is not permitted here")
        assert done.returncode in (0, 1), done.stderr
        assert_nothing_is_left(place, before)
    pairs = [line.split() for line in said.splitlines()]
    visits = [(int(begin), int(end)) for begin, end in pairs]
    return Disturbed(json.loads(done.stdout), done.returncode, visits)


def test_the_result_is_as_published(disturbed: Disturbed) -> None:
    assert_keeps_to_schema(disturbed.result, "noise-result")
    (cpu,) = disturbed.result["cpus"]
    assert cpu["cpu"] == CPU
    assert cpu["measured_ns"] >= 3e9
    assert sum(bucket["count"] for bucket in cpu["buckets"]) == cpu["looks"]
    assert cpu["stalled_ns"] <= cpu["measured_ns"]


def test_a_visit_longer_than_the_limit_fails_the_measurement(disturbed: Disturbed) -> None:
    """Visits last 2 ms, and 1 ms passes."""
    (cpu,) = disturbed.result["cpus"]
    assert cpu["max_ns"] >= noise_thief.VISIT_NS
    assert disturbed.exit_code == 1
    assert disturbed.result["passed"] is False


def test_the_thief_is_named_each_time_and_only_for_its_visits(disturbed: Disturbed) -> None:
    if disturbed.result["trace"]["unavailable"] is not None:
        pytest.skip(disturbed.result["trace"]["unavailable"])
    thefts = disturbed.thefts
    assert thefts
    for stall in thefts:
        begin, end = stall["begin_unix_ns"], stall["begin_unix_ns"] + stall["length_ns"]
        assert any(
            begin - SLACK_NS <= since and until_ns <= end + SLACK_NS
            for since, until_ns in disturbed.visits
        ), stall["sentence"]
    first = min(stall["begin_unix_ns"] for stall in thefts)
    last = max(stall["begin_unix_ns"] + stall["length_ns"] for stall in thefts)
    within = [each for each in disturbed.visits if first <= each[0] and each[1] <= last]
    rows = [row for row in disturbed.result["causes"] if row["name"] == THIEF]
    assert [row["kind"] for row in rows] == ["task"]
    assert rows[0]["cpu"] == CPU
    assert rows[0]["occurrences"] >= 0.95 * len(within) > 0
    assert rows[0]["worst_ns"] >= 0.9 * noise_thief.VISIT_NS


def test_without_a_trace_no_task_is_named(place: Workplace) -> None:
    words = ("--cpus", CPU, "--duration", "300ms", "--no-trace", "--json")
    done = place.run("osnoise", *words)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert_keeps_to_schema(result, "noise-result")
    assert result["trace"]["unavailable"] == "switched off: leave out --no-trace"
    assert {row["confidence"] for row in result["causes"]} <= {"counter", "unexplained"}
    assert result["passed"] is None


def test_several_cpus_at_once_each_have_a_row(place: Workplace) -> None:
    """With all of them measured nothing else is left for our own processes."""
    cpus = sorted(allowed_cpus())
    listed = ",".join(map(str, cpus))
    done = place.run("osnoise", "--cpus", listed, "--duration", "500ms", "--threshold", "50us")
    assert done.returncode == 0, done.stderr
    table, _, histogram = done.stdout.partition("Gaps by length")
    rows = [line.split()[0] for line in table.splitlines()[2:] if line.strip()]
    assert rows == [str(cpu) for cpu in cpus]
    assert all(f"CPU {cpu}" in histogram.splitlines()[1] for cpu in cpus)


def test_a_kill_leaves_nothing(place: Workplace) -> None:
    before = hugepages()
    process = place.start("osnoise", "--cpus", CPU, "--duration", "1h")
    until(lambda: bool(place.processes("plimsoll-engine")), "the engine to be there")
    (directory,) = place.state.iterdir()
    ledger = Ledger(directory)
    # The trace, where there is one, is opened right after.
    until(lambda: settled(ledger, place), "loops to poll")
    instances = [trace_instance(name) for name in ledger.record.trace_instances]
    process.kill()
    process.communicate()
    assert_nothing_is_left(place, before)
    assert not any(path.exists() for path in instances)


def settled(ledger: Ledger, place: Workplace) -> bool:
    """Whether the loop polls: it has had half a second of its CPU."""
    (engine,) = place.processes("plimsoll-engine")
    threads = Path(f"/proc/{engine}/task").iterdir()
    ticks = [int((each / "stat").read_text().rpartition(")")[2].split()[11]) for each in threads]
    return max(ticks) >= 50 and bool(ledger.record.processes)
