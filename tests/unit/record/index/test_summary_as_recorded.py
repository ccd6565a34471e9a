"""What the recorder and the methods themselves leave for the list, on simulated DUTs."""

import json
from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import Interrupted
from plimsoll.methods.load_line.run import find_load_line
from plimsoll.methods.matrix.document import load_matrix
from plimsoll.methods.matrix.plan import begin_matrix
from plimsoll.methods.matrix.run import run_matrix
from plimsoll.methods.trial.run import run_single_trial
from plimsoll.record.index import run_entry
from plimsoll.record.index.find import read_index
from plimsoll.record.index.run_entry import RunEntry, entry_of
from plimsoll.record.recorder import Recorder, recording
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.text.units import parse_rate
from tests.unit.methods.matrix.matrix_files import write_matrix
from tests.unit.methods.soak.soak_runs import soak_experiment
from tests.worded.says import Says


class Silent:
    """A ProgressListener that says nothing, and looks at the run when it is notified."""

    def __init__(self, run: RunDirectory) -> None:
        self.run = run
        self.seen: list[RunEntry] = []

    def __getattr__(self, name: str) -> Any:
        return self._look

    def _look(self, *_: Any, **__: Any) -> None:
        if (self.run.path / "summary.json").exists() and not self.seen:
            self.seen.append(entry_of("r", self.run.path))


def kept(run: RunDirectory) -> dict[str, Any]:
    content = json.loads((run.path / "summary.json").read_text())
    assert isinstance(content, dict)
    return content


@pytest.fixture
def _nothing_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list that would have to read the record itself fails."""

    def made_anew(run: RunDirectory) -> None:
        raise AssertionError(f"the summary of {run.run_id} did not hold")

    monkeypatch.setattr(run_entry, "summarise", made_anew)


@pytest.mark.usefixtures("_nothing_is_made_anew")
def test_a_search_keeps_its_summary_from_its_beginning_to_its_end(tmp_path: Path) -> None:
    plan = soak_experiment(
        search={
            "minimum": "50kpps",
            "maximum": "100kpps",
            "duration": "500ms",
            "validation": {"duration": "500ms"},
        }
    )
    run = RunDirectory.create(tmp_path, "demo", plan.normalised())
    listener = Silent(run)
    result = find_load_line(plan, run, listener)
    (early,) = listener.seen
    assert early.state == "running"
    assert early.summary is not None
    assert (early.summary.method, early.summary.name) == ("load-line", "demo")
    assert (early.summary.dut, early.summary.answer) == ("simulated", None)
    (entry,) = read_index(tmp_path)
    assert result.load_line is not None
    assert result.validation is not None
    assert entry.state == "finished"
    assert entry.summary is not None
    assert entry.summary.answer is not None
    assert entry.summary.answer.value == result.load_line.pps_per_direction == 100_000
    assert entry.summary.period == f"trial-{result.validation.trial:04}"
    assert entry.summary.trials == result.trials.total
    assert entry.summary.versions == result.versions


@pytest.mark.usefixtures("_nothing_is_made_anew")
def test_a_single_trial_keeps_its_summary(tmp_path: Path, says: Says) -> None:
    plan = soak_experiment()
    run = RunDirectory.create(tmp_path, "demo-trial", plan.normalised())
    record = run_single_trial(plan, run, parse_rate("60kpps"), 1.0, Silent(run))
    (entry,) = read_index(tmp_path)
    assert (entry.state, record.verdict) == ("finished", "pass")
    assert entry.summary is not None
    assert entry.summary.answer is not None
    assert entry.summary.answer.text == says("60", "kpps", "pass")


@pytest.mark.usefixtures("_nothing_is_made_anew")
def test_a_matrix_and_its_parts_keep_theirs(tmp_path: Path, says: Says) -> None:
    path = write_matrix(tmp_path, {"sets": [{"search.maximum": ["20kpps", "30kpps"]}]})
    run = begin_matrix(load_matrix(path), tmp_path / "runs")
    run_matrix(run, Silent(run), lambda sample: None)
    whole, *parts = read_index(tmp_path / "runs", parts=True)
    assert whole.summary is not None
    assert whole.summary.answer is not None
    assert whole.summary.answer.text == says("2", "20", "kpps", "30")
    assert (whole.state, whole.summary.dut, whole.summary.model) == (
        "finished",
        "simulated",
        "fixed-capacity",
    )
    assert [part.summary.verdict for part in parts if part.summary] == ["pass", "pass"]


def interrupt(recorder: Recorder) -> None:
    recorder.event("run-started", method="load-line", versions={})
    recorder.event("something-else")
    raise Interrupted("SIGINT")


@pytest.mark.usefixtures("_nothing_is_made_anew")
def test_a_run_that_a_signal_ended_keeps_what_was_known(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "demo", soak_experiment().normalised())
    with pytest.raises(Interrupted), recording(run) as recorder:
        interrupt(recorder)
    (entry,) = read_index(tmp_path)
    assert entry.state == "stopped"


def test_a_record_that_cannot_be_summed_up_is_not_spoiled(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "demo", {"name": "demo"})
    with recording(run) as recorder:
        recorder.event("run-started", method="load-line", versions={})
        run.experiment.write_text("- no\n- mapping\n")
        (run.path / "summary.json").unlink()
    assert not (run.path / "summary.json").exists()
    (entry,) = read_index(tmp_path)
    assert entry.state == "damaged"


def test_the_summary_says_what_it_was_made_from(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "demo", {"name": "demo"})
    with recording(run) as recorder:
        recorder.event("run-started", method="load-line", versions={})
    found = run.journal.stat()
    content = kept(run)
    assert content["format"] == 2
    assert content["sources"]["journal"] == [found.st_size, found.st_mtime_ns]
    assert content["sources"]["result"] is None
