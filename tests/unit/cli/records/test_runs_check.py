"""Damage to a run's files is said wherever a figure comes from them."""

import json
import shutil
from pathlib import Path

import pytest

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.load_line.load_line import check_resume
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.cli.runs_command import Plimsoll
from tests.unit.report.sample_run import write_sample_run

METRICS = "metrics/trial-0001.parquet"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that no test touches."""
    return write_sample_run(tmp_path_factory.mktemp("recorded")).path


@pytest.fixture
def run(plimsoll: Plimsoll, recorded: Path) -> RunDirectory:
    assert plimsoll.out == ""
    return RunDirectory.open(shutil.copytree(recorded, Path("runs", recorded.name)))


def damage(run: RunDirectory, name: str) -> None:
    path = run.path / name
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 4
    path.write_bytes(data)


def test_a_run_that_is_as_it_was_recorded(plimsoll: Plimsoll, run: RunDirectory) -> None:
    assert plimsoll("runs", "check") == 0
    assert plimsoll.out == f"{run.path}: as it was recorded\n"
    assert plimsoll("runs", "show", "last") == 0
    assert plimsoll("report", "last", "--no-charts") == 0
    assert "Damaged record" not in run.report.read_text()
    assert plimsoll.err == ""


@pytest.mark.parametrize("name", ["environment.json", METRICS, "histograms.hlog"])
def test_check_and_show_name_what_is_damaged(
    plimsoll: Plimsoll, run: RunDirectory, name: str
) -> None:
    damage(run, name)
    assert plimsoll("runs", "check", "last") == 4
    assert plimsoll.out == f"{run.path}: 1 damaged\n"
    assert f"damaged: {run.path / name}: was changed after it was recorded" in plimsoll.err
    assert plimsoll("runs", "show", "last", "--json") == 4
    (problem,) = json.loads(plimsoll.out)["damage"]
    assert problem["where"] == str(run.path / name)
    assert "restore it from a copy" in problem["remedy"]


def test_a_damaged_journal_is_named_and_the_next_run_checked(
    plimsoll: Plimsoll, run: RunDirectory
) -> None:
    other = write_sample_run(Path("runs"), name="other")
    damage(run, "journal.jsonl")
    assert plimsoll("runs", "check") == 4
    assert "is damaged: its checksum does not fit" in plimsoll.err
    assert plimsoll.out.splitlines() == [
        f"{run.path}: 1 damaged",
        f"{other.path}: as it was recorded",
    ]


def test_the_report_begins_with_the_damage(plimsoll: Plimsoll, run: RunDirectory) -> None:
    (run.path / METRICS).unlink()
    assert plimsoll("report", "last", "--no-charts") == 0
    assert f"damaged: {run.path / METRICS}: is missing" in plimsoll.err
    text = run.report.read_text()
    assert "Damaged record" in text
    assert "metrics/trial-0001.parquet: is missing" in text


@pytest.mark.parametrize(
    ("name", "command"),
    [
        (METRICS, ["export", "last", "--format", "csv"]),
        (METRICS, ["export", "last", "--format", "cdm"]),
        (METRICS, ["export", "last", "--format", "parquet", "--output", "out"]),
        ("histograms.hlog", ["export", "last", "--format", "hlog"]),
        (
            METRICS,
            ["metrics", "get", "--period", "1", "--source", "trafficgen", "--type", "rx-pps"],
        ),
    ],
)
def test_nothing_is_made_from_a_damaged_file(
    plimsoll: Plimsoll, run: RunDirectory, name: str, command: list[str]
) -> None:
    damage(run, name)
    assert plimsoll(*command) == 4
    assert f"{name}: was changed after it was recorded" in plimsoll.err
    assert "restore it from a copy" in plimsoll.err


def test_an_edited_result_is_shown_nowhere(plimsoll: Plimsoll, run: RunDirectory) -> None:
    result = json.loads(run.result.read_text())
    result["load_line"]["pps_per_direction"] = 9.0e6
    run.result.write_text(json.dumps(result))
    for command, code in ((["list"], 0), (["show", run.path], 4), (["check", run.path], 4)):
        assert plimsoll("runs", *command) == code
        assert "was changed after the run: the journal has another result" in plimsoll.err
        assert "9 Mpps" not in plimsoll.out
    assert plimsoll("report", run.path) == 4
    with pytest.raises(RecordError, match="was changed after the run"):
        check_resume(Experiment.model_construct(), run)


def test_a_journal_cut_before_its_validation_is_an_error(
    plimsoll: Plimsoll, run: RunDirectory
) -> None:
    lines = run.journal.read_text().splitlines(keepends=True)
    kept = [
        line
        for line in lines
        if not (line.startswith('{"kind": "trial"') and '"phase": "validation"' in line)
    ]
    assert len(kept) < len(lines)
    run.journal.write_text("".join(kept))
    with pytest.raises(RecordError, match="lines were taken out, put in or moved"):
        check_resume(Experiment.model_construct(), run)
    assert plimsoll("report", run.path) == 4
    assert "lines were taken out, put in or moved" in plimsoll.err
