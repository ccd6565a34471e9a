"""A new method is a folder and nothing else: it runs, goes on, is listed and reported."""

import json
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from plimsoll import methods
from plimsoll.benchmark.experiment.experiment import load_experiment
from plimsoll.errors import Interrupted
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.schemas import published_schema
from tests.unit.benchmark.simulated_tests import BUFFER_FRAMES, Seen, experiment
from tests.unit.cli.runs_command import Plimsoll
from tests.worded.says import Says

FOLDER = Path(__file__).parent / "folder"
# The simulated DUT carries 1 Mpps in each direction, and keeps 4096 frames of what is beyond.
LOADS = "--loads=500kpps,900kpps,1.5Mpps"


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lay its folder beside the others: that is all."""
    monkeypatch.setattr(methods, "__path__", [*methods.__path__, str(FOLDER)])


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "sim.yaml"
    path.write_text(yaml.safe_dump(experiment().normalised()))
    return path


def cut_short(written: Path) -> RunDirectory:
    """A run that a signal ended after the first of its trials."""
    own = import_module("plimsoll.methods.staircase.run")
    plan = load_experiment(written)
    settings = own.StaircaseSettings(loads_pps=(500e3, 900e3, 1.5e6))
    run = RunDirectory.create(written.parent / "runs", "sim", plan.normalised())
    with pytest.raises(Interrupted):
        own.run_staircase(plan, settings, run, Seen(most=1))
    return run


def test_it_is_a_command_that_runs_it(plimsoll: Plimsoll, written: Path) -> None:
    assert plimsoll("staircase", written, LOADS, "--tag", "kernel=6.1") == 0
    assert "A staircase" in plimsoll.out
    (directory,) = Path("runs").iterdir()
    result = json.loads((directory / "result.json").read_text())
    kept, kept_too, lost = (stair["lost"] for stair in result["stairs"])
    assert (kept, kept_too) == (0, 0)
    # A second of 1.5 Mpps, of which two directions carry 1 Mpps each; probes take none of it.
    assert lost == pytest.approx(2 * (500_000 - BUFFER_FRAMES), rel=0.01)
    page = (directory / "report.html").read_text()
    assert "A staircase" in page
    assert f"{lost:,}" in page


def test_its_result_keeps_to_its_published_schema(plimsoll: Plimsoll, written: Path) -> None:
    assert plimsoll("staircase", written, LOADS, "--json") == 0
    schema = json.loads(published_schema("staircase-result"))
    validator = Draft202012Validator(schema)
    printed = json.loads(plimsoll.out)
    validator.validate(printed)
    assert not validator.is_valid({**printed, "stairs": "steep"})


def test_it_goes_on_after_its_last_trial(plimsoll: Plimsoll, written: Path, says: Says) -> None:
    run = cut_short(written)
    assert plimsoll("runs", "show", run.path) == 0
    assert f"plimsoll staircase --resume {run.path}" in "".join(plimsoll.out.split("\n"))
    assert plimsoll("staircase", "--resume", run.path) == 0
    assert plimsoll.err == says("1")
    trials = read_journal(run.journal).trials()
    assert [trial.load_pps for trial in trials] == [500e3, 900e3, 1.5e6]
    before = run.journal.read_bytes()
    assert plimsoll("staircase", "--resume", run.path) == 0
    assert "already finished" in plimsoll.err
    assert run.journal.read_bytes() == before


def test_it_is_listed_with_what_it_found(plimsoll: Plimsoll, written: Path, says: Says) -> None:
    cut_short(written)
    assert plimsoll("staircase", written, LOADS) == 0
    assert plimsoll("runs", "list", "--method", "staircase", "--json") == 0
    latest, stopped = json.loads(plimsoll.out)
    assert (stopped["state"], stopped["answer"]) == ("stopped", None)
    assert latest["answer"]["text"] == says("900")
    assert (latest["answer"]["value"], latest["verdict"]) == (900e3, "pass")


def test_what_is_cut_short_has_a_page_too(plimsoll: Plimsoll, written: Path) -> None:
    run = cut_short(written)
    assert plimsoll("report", run.path) == 0
    assert "This run has not finished" in run.report.read_text()
