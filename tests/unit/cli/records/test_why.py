import json
from pathlib import Path

import pytest

from plimsoll.attribution.ranking.trial_causes import causes_of_trial
from plimsoll.record.causes.kernel_events import write_kernel_events
from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.attribution.ranking.test_trial_causes import facts
from tests.unit.cli.runs_command import Plimsoll
from tests.worded.says import Says, passage


@pytest.fixture
def plimsoll(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Plimsoll:
    return Plimsoll(monkeypatch, capsys)


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    made = RunDirectory.create(tmp_path / "runs", "demo", {})
    found = causes_of_trial(facts())
    found.record.write(made)
    write_kernel_events(made, 7, found.events)
    return made


def test_causes_are_ranked_and_the_worst_reported_with_what_helps(
    plimsoll: Plimsoll, run: RunDirectory, says: Says
) -> None:
    assert plimsoll("why", run.path) == 0
    first = plimsoll.out.splitlines()[0]
    assert first == says("512", "1", "100%", "4")
    assert passage(plimsoll.out, "probe/0-1", "4.01") == says()
    assert passage(plimsoll.out, "512", "load/0-1") == says()
    assert passage(plimsoll.out, "0", "4") == says()
    assert passage(plimsoll.out, "1", "5", "44") == says()


def test_as_json_everything_is_there(plimsoll: Plimsoll, run: RunDirectory) -> None:
    assert plimsoll("why", run.path, "--json", "--above", "1ms") == 0
    document = json.loads(plimsoll.out)
    assert document["spikes_from_ns"] == 1_000_000
    assert document["causes"][0]["name"] == "java"
    assert document["worst_spikes"][0]["causes"][0]["pid"] == 812
    assert document["traces"][0]["clock"] == "x86-tsc"


def test_a_trace_is_written_once(plimsoll: Plimsoll, run: RunDirectory, tmp_path: Path) -> None:
    target = tmp_path / "trace.json"
    assert plimsoll("why", run.path, "--perfetto", target) == 0
    assert json.loads(target.read_text())["traceEvents"]
    assert plimsoll("why", run.path, "--perfetto", target) == 2
    assert "--perfetto" in plimsoll.err


def test_a_trial_without_causes_is_refused_with_those_there_are(
    plimsoll: Plimsoll, run: RunDirectory, says: Says
) -> None:
    assert plimsoll("why", run.path, "--trial", 9) == 2
    assert plimsoll.err == says("trial", "9", "7")


def test_a_run_without_causes_says_so(plimsoll: Plimsoll, tmp_path: Path, says: Says) -> None:
    bare = RunDirectory.create(tmp_path, "demo", {})
    assert plimsoll("why", bare.path) == 2
    assert plimsoll.err == says()


def test_a_limit_without_a_unit_is_refused(plimsoll: Plimsoll, run: RunDirectory) -> None:
    assert plimsoll("why", run.path, "--above", "100") == 2
    assert "--above" in plimsoll.err


def test_a_missing_trace_is_said_first(plimsoll: Plimsoll, run: RunDirectory, says: Says) -> None:
    record = causes_of_trial(facts()).record
    trace = record.trace.model_copy(update={"clock": None, "unavailable": "no permission"})
    record.model_copy(update={"trace": trace}).write(run)
    assert plimsoll("why", run.path) == 0
    assert passage(plimsoll.out, "7", "trace", "permission") == says()
