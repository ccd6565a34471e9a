"""Quiet and noisy by turns."""

import json
import shutil
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from plimsoll.errors import InputError
from plimsoll.methods.matrix.document import load_matrix
from plimsoll.methods.matrix.plan import (
    begin_matrix,
    iteration_folder,
    read_iteration,
    read_plan,
)
from plimsoll.methods.matrix.result import METHOD as MATRIX
from plimsoll.methods.matrix.result import MatrixResult
from plimsoll.methods.matrix.run import run_matrix
from plimsoll.methods.matrix.settings import Sample, in_order
from plimsoll.methods.noisy.document import load_noisy_matrix
from plimsoll.methods.noisy.result import METHOD as NOISY
from plimsoll.methods.noisy.run import noise_effect, noisy_result
from plimsoll.record.methods.method import RunAnswer
from plimsoll.record.run.journal import Journal
from plimsoll.record.run.result_file import finish_run
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.schemas import published_schema
from plimsoll.report import write_report
from tests.unit.methods.matrix.matrix_files import write_matrix
from tests.unit.methods.matrix.test_matrix_run import Watching
from tests.worded.says import Says

EXPERIMENT = """\
lab: {kind: loopback}
generator: {cpus: [0]}
profile: {streams: [{name: load, role: load}]}
search: {minimum: 1kpps, maximum: 1Mpps}
"""
NOISE = "noise: [{kind: stress-ng, stressor: timer, cpus: [0]}]\n"


@pytest.fixture(autouse=True)
def _machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine with CPU 0, and stress-ng on PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "stress-ng").write_text("")
    (folder / "stress-ng").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def write(folder: Path, text: str) -> Path:
    path = folder / "noisy.yaml"
    path.write_text(text)
    return path


def test_abba_turns_round_every_second_time() -> None:
    assert list(in_order(2, 3, "abba", 0)) == [
        Sample(1, 1),
        Sample(2, 1),
        Sample(2, 2),
        Sample(1, 2),
        Sample(1, 3),
        Sample(2, 3),
    ]


def test_the_two_iterations_differ_in_their_noise_alone(tmp_path: Path) -> None:
    run = begin_matrix(load_noisy_matrix(write(tmp_path, EXPERIMENT + NOISE), 2), tmp_path / "runs")
    plan = read_plan(run)
    assert (plan.order, plan.samples) == ("abba", 2)
    quiet, noisy = (read_iteration(run, each.number) for each in plan.iterations)
    assert quiet.noise == ()
    assert [each.name for each in noisy.noise] == ["stress-ng timer"]
    assert noisy.model_copy(update={"noise": ()}) == quiet


def test_an_experiment_without_noise_is_refused(tmp_path: Path, says: Says) -> None:
    with pytest.raises(InputError) as refused:
        load_noisy_matrix(write(tmp_path, EXPERIMENT), 2)
    assert refused.value == says()
    assert refused.value.remedy


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunDirectory, MatrixResult]:
    """Eight searches, once for all tests."""
    folder = tmp_path_factory.mktemp("measured")
    sets = [{"search.maximum": ["20kpps", "15kpps"]}]
    path = write_matrix(folder, {"sets": sets, "samples": 4})
    run = begin_matrix(load_matrix(path), folder / "runs")
    return run, run_matrix(run, Watching(), lambda _: None)


@pytest.fixture
def finished(
    measured: tuple[RunDirectory, MatrixResult], tmp_path: Path
) -> tuple[RunDirectory, MatrixResult]:
    """Two simulated DUTs as if the second were the first next to noise: 20 kpps and 15 kpps."""
    original, result = measured
    run = RunDirectory(Path(shutil.copytree(original.path, tmp_path / "runs" / original.run_id)))
    quiet, noisy = result.iterations
    as_if = (
        quiet.model_copy(update={"params": {"noise": []}}),
        noisy.model_copy(update={"params": {"noise": [{"kind": "memory"}]}}),
    )
    return run, result.model_copy(update={"iterations": as_if})


def test_the_effect_is_that_of_noisy_against_quiet(
    finished: tuple[RunDirectory, MatrixResult],
) -> None:
    run, result = finished
    effect = noise_effect(run, result.iterations)
    assert [side.label for side in effect.comparison.sides] == ["quiet", "noisy"]
    line = effect.comparison.figures[0]
    (shift,) = line.shifts
    assert shift is not None
    assert shift.estimate == pytest.approx(-5000)
    assert line.judgements == ("worse",)
    assert set(effect.causes) == {"quiet", "noisy"}


def test_another_matrix_has_no_effect(
    finished: tuple[RunDirectory, MatrixResult], says: Says
) -> None:
    run, result = finished
    first, second = result.iterations
    for params in ({"noise": [], "lab.burst": 3}, {"noise": [{"kind": "memory"}]}):
        changed = (first.model_copy(update={"params": params}), second)
        with pytest.raises(InputError) as caught:
            noise_effect(run, changed)
        assert caught.value == says("noise")


def test_its_result_has_both_sides_and_the_difference(
    finished: tuple[RunDirectory, MatrixResult],
    says: Says,
) -> None:
    run, matrix = finished
    result = noisy_result(run, read_plan(run), matrix.iterations)
    line = result.differences[0]
    assert (line.figure, line.quiet, line.noisy) == ("load line", (20_000,) * 4, (15_000,) * 4)
    assert (line.estimate, line.least, line.most) == (-5000, -5000, -5000)
    assert (line.relative, line.judgement) == (-0.25, "worse")
    assert (result.verdict, result.unknown, result.error_code) == ("pass", None, None)
    # The search's maximum limits both: next to noise the DUT may carry as much.
    assert NOISY.outcome(result).answer == RunAnswer(
        says("-25 %"), "noise", None, "pps per direction"
    )
    written = json.loads(result.model_dump_json())
    schema = json.loads(published_schema("noisy-result"))
    Draft202012Validator(schema).validate(written)


def test_a_side_without_a_run_has_no_difference_and_says_why(
    finished: tuple[RunDirectory, MatrixResult],
    says: Says,
) -> None:
    run, matrix = finished
    quiet, noisy = matrix.iterations
    result = noisy_result(run, read_plan(run), (quiet, noisy.model_copy(update={"samples": ()})))
    assert result.differences == ()
    assert result.unknown == says()


@pytest.fixture
def noisy_run(finished: tuple[RunDirectory, MatrixResult], tmp_path: Path) -> RunDirectory:
    """The same runs as those of a run that plimsoll noisy has made."""
    old, matrix = finished
    run = RunDirectory.create(tmp_path / "noisy", "noisy", {"name": "noisy"})
    plan = read_plan(old).model_copy(update={"method": "noisy", "order": "abba"})
    (run.path / "matrix.json").write_text(plan.model_dump_json())
    for number in (1, 2):
        shutil.copytree(iteration_folder(old, number), iteration_folder(run, number))
    result = noisy_result(run, plan, matrix.iterations)
    with Journal(run.journal) as journal:
        journal.append("run-started", method="noisy")
        finish_run(run, journal, result)
    return run


@pytest.mark.slow
def test_its_page_says_what_noise_did_and_leads_to_the_runs(noisy_run: RunDirectory) -> None:
    text = write_report(noisy_run).read_text()
    assert "Noisy against quiet" in text
    assert "-25.00 %" in text
    assert '<a href="iteration-0002/sample-3/report.html">' in text
    assert text.index("iteration-0001/sample-1/report") < text.index("iteration-0002/sample-1/rep")


def test_another_command_does_not_go_on_with_it(noisy_run: RunDirectory, says: Says) -> None:
    with pytest.raises(InputError) as refused:
        read_plan(noisy_run, MATRIX)
    assert refused.value == says()
    assert "plimsoll noisy --resume" in refused.value.remedy
