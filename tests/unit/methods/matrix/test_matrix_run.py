"""Matrix runs of simulated DUTs, from the file to the result."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from plimsoll.errors import InputError, Interrupted
from plimsoll.generator.interface import Interval, TrialPlan
from plimsoll.methods.matrix.document import load_matrix
from plimsoll.methods.matrix.plan import begin_matrix, read_plan
from plimsoll.methods.matrix.result import LoadLineSpread, MatrixResult
from plimsoll.methods.matrix.run import run_matrix
from plimsoll.record.results.result import read_result
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.schemas import published_schema
from plimsoll.record.trials.trial_parts import TrialPhase
from plimsoll.record.trials.trial_record import TrialRecord
from tests.unit.methods.matrix.matrix_files import write_matrix
from tests.worded.says import Says

MAXIMUM = "search.maximum"


class Watching:
    """Notes and trials as they come; interrupts before the trial of the given count."""

    def __init__(self, interrupt_at: int | None = None) -> None:
        self.notes: list[str] = []
        self.trials = 0
        self._interrupt_at = interrupt_at

    def note(self, text: str) -> None:
        self.notes.append(text)

    def trial_started(self, number: int, phase: TrialPhase, plan: TrialPlan) -> None:
        self.trials += 1
        if self.trials == self._interrupt_at:
            raise Interrupted("SIGINT")

    def interval(self, interval: Interval) -> None:
        pass

    def trial_ended(self, record: TrialRecord) -> None:
        pass

    @property
    def announced(self) -> list[str]:
        return [note for note in self.notes if note.startswith("iteration ")]


def _begin(folder: Path, matrix: dict[str, Any], **changed: Any) -> RunDirectory:
    return begin_matrix(load_matrix(write_matrix(folder, matrix, **changed)), folder / "runs")


def _run(
    run: RunDirectory, watching: Watching | None = None
) -> tuple[MatrixResult, Watching, list[str]]:
    watching, seen = watching or Watching(), list[str]()
    result = run_matrix(run, watching, lambda sample: seen.append(sample.path.name))
    return result, watching, seen


TWO_LOADS = {"samples": 2, "sets": [{MAXIMUM: ["20kpps", "30kpps"]}]}


def test_each_sample_is_reported_before_its_search_begins(tmp_path: Path) -> None:
    run, reported = _begin(tmp_path, TWO_LOADS), list[tuple[str, str]]()

    def before(sample: RunDirectory) -> None:
        reported.append((sample.path.relative_to(run.path).as_posix(), sample.journal.read_text()))

    run_matrix(run, Watching(), lambda _: None, before)
    assert reported == [
        ("iteration-0001/sample-1", ""),
        ("iteration-0002/sample-1", ""),
        ("iteration-0001/sample-2", ""),
        ("iteration-0002/sample-2", ""),
    ]


def test_every_sample_is_a_run_with_a_load_line(tmp_path: Path) -> None:
    run = _begin(tmp_path, TWO_LOADS)
    result, watching, seen = _run(run)
    assert watching.announced == [
        "iteration 1 of 2, sample 1 of 2: maximum = 20kpps",
        "iteration 2 of 2, sample 1 of 2: maximum = 30kpps",
        "iteration 1 of 2, sample 2 of 2: maximum = 20kpps",
        "iteration 2 of 2, sample 2 of 2: maximum = 30kpps",
    ]
    assert seen == ["sample-1", "sample-1", "sample-2", "sample-2"]
    for iteration, load_pps in zip(result.iterations, (20_000, 30_000), strict=True):
        assert iteration.load_line == LoadLineSpread(
            samples=2, mean_pps=load_pps, min_pps=load_pps, max_pps=load_pps, relative=0
        )
        for sample in iteration.samples:
            alone = read_result(RunDirectory(run.path / sample.directory))
            assert alone is not None
            assert alone.load_line is not None
            assert alone.load_line.pps_per_direction == sample.load_line_pps
    assert result.complete
    assert result.iterations[0].params == {MAXIMUM: "20kpps"}
    assert result.iterations[0].samples[1].directory == "iteration-0001/sample-2"


def test_the_record_of_a_matrix(tmp_path: Path) -> None:
    run = _begin(tmp_path, TWO_LOADS)
    result, _, _ = _run(run)
    written = json.loads(run.result.read_text())
    assert MatrixResult.model_validate(written) == result
    schema = json.loads(published_schema("matrix-result"))
    Draft202012Validator(schema).validate(written)
    kinds = [event.kind for event in read_journal(run.journal).events]
    assert kinds == ["run-started", *["sample-ended"] * 4, "files", "finished"]
    assert read_journal(run.journal).events[0].fields["method"] == "matrix"
    assert run.read_experiment()["matrix"] == TWO_LOADS
    assert json.loads((run.path / "matrix.json").read_text())["iterations"] == [
        {"label": "", "number": 1, "params": {MAXIMUM: "20kpps"}},
        {"label": "", "number": 2, "params": {MAXIMUM: "30kpps"}},
    ]


def test_one_that_fails_loses_no_other_and_is_run_again_on_resume(tmp_path: Path) -> None:
    """The command before a trial fails for as long as a file is missing."""
    fixed = tmp_path / "fixed"
    commands = [["test", "-e", str(fixed)], ["true"]]
    run = _begin(tmp_path, {"sets": [{"trial.before": commands}]})
    first, watching, seen = _run(run)
    assert seen == ["sample-1"]
    failed, found = first.iterations
    assert failed.load_line is None
    assert failed.samples[0].error is not None
    assert "test" in failed.samples[0].error
    assert found.load_line is not None
    assert not first.complete
    assert any(note.startswith("iteration-0001/sample-1 failed: ") for note in watching.notes)
    (event,) = read_journal(run.journal).of_kind("sample-failed")
    assert (event.fields["iteration"], event.fields["sample"]) == (1, 1)

    fixed.touch()
    second, again, seen = _run(run)
    assert seen == ["sample-1"]
    assert len(again.announced) == 1
    assert second.complete
    assert second.iterations[1] == found


def test_an_interrupted_matrix_goes_on_within_the_sample(tmp_path: Path, says: Says) -> None:
    """Each has a search trial and a validation; the second one's validation is cut short."""
    run = _begin(tmp_path, TWO_LOADS)
    cut = Watching(interrupt_at=4)
    with pytest.raises(Interrupted):
        _run(run, cut)
    assert len(cut.announced) == 2
    result, resumed, _ = _run(run)
    assert resumed.notes[0] == says("1", "4")
    assert len(resumed.announced) == 3
    # The second sample's validation, and both trials of the third and fourth.
    assert resumed.trials == 5
    assert result.complete
    # The cut one did not begin anew.
    directory = RunDirectory(run.path / "iteration-0002" / "sample-1")
    assert [trial.phase for trial in read_journal(directory.journal).trials()] == [
        "search",
        "validation",
    ]


def test_a_finished_matrix_stands(tmp_path: Path, says: Says) -> None:
    run = _begin(tmp_path, {"sets": [{MAXIMUM: ["20kpps"]}]})
    first, _, _ = _run(run)
    second, watching, seen = _run(run)
    assert second == first
    assert (watching.trials, seen) == (0, [])
    assert watching.notes == [says()]


def test_no_load_line_is_a_result_and_no_error(tmp_path: Path, says: Says) -> None:
    parameters = {"lab.model.capacity": ["5kpps"], "search.minimum": ["20kpps"]}
    result, _, _ = _run(_begin(tmp_path, {"sets": [parameters]}))
    (sample,) = result.iterations[0].samples
    assert (sample.load_line_pps, sample.error) == (None, None)
    assert sample.reason is not None
    assert sample.reason == says("minimum")
    assert not result.complete


def test_a_resumed_matrix_needs_none_of_the_files_it_was_read_from(tmp_path: Path) -> None:
    run = _begin(tmp_path, {"sets": [{MAXIMUM: ["20kpps"]}]})
    (tmp_path / "sizes.yaml").unlink()
    assert _run(run)[0].complete


def test_another_kind_of_run_is_no_matrix(tmp_path: Path, says: Says) -> None:
    other = RunDirectory.create(tmp_path, "other", {"name": "other"})
    with pytest.raises(InputError) as raised:
        read_plan(other)
    assert raised.value == says("matrix.json")


def test_the_spread_by_hand() -> None:
    assert LoadLineSpread.of([90.0, 100.0, 110.0]) == LoadLineSpread(
        samples=3, mean_pps=100.0, min_pps=90.0, max_pps=110.0, relative=0.2
    )
    assert LoadLineSpread.of([]) is None
