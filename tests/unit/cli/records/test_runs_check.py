"""Damage to a run's files is said wherever a figure comes from them."""

import json
import shutil
from pathlib import Path

import pytest

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.methods.load_line.run import check_resume
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.cli.runs_command import Plimsoll
from tests.unit.report.sample_run import write_sample_run
from tests.worded.says import Says

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


def test_a_run_that_is_as_it_was_recorded(
    plimsoll: Plimsoll, run: RunDirectory, says: Says
) -> None:
    assert plimsoll("runs", "check") == 0
    assert plimsoll.out == says(f"{run.path}:")
    assert plimsoll("runs", "show", "last") == 0
    assert plimsoll("report", "last", "--no-charts") == 0
    assert "Damaged record" not in run.report.read_text()
    assert plimsoll.err == ""


@pytest.mark.parametrize("name", ["environment.json", METRICS, "histograms.hlog"])
def test_check_and_show_name_what_is_damaged(
    plimsoll: Plimsoll, run: RunDirectory, name: str, says: Says
) -> None:
    damage(run, name)
    assert plimsoll("runs", "check", "last") == 4
    assert plimsoll.out == f"{run.path}: 1 damaged\n"
    assert plimsoll.err == says("damaged", str(run.path / name))
    assert plimsoll("runs", "show", "last", "--json") == 4
    (problem,) = json.loads(plimsoll.out)["damage"]
    assert problem["where"] == str(run.path / name)
    assert problem["remedy"] == says()


def test_a_damaged_journal_is_named_and_the_next_run_checked(
    plimsoll: Plimsoll, run: RunDirectory, says: Says
) -> None:
    other = write_sample_run(Path("runs"), name="other")
    damage(run, "journal.jsonl")
    assert plimsoll("runs", "check") == 4
    assert plimsoll.err == says("damaged")
    assert plimsoll.out.splitlines() == [
        f"{run.path}: 1 damaged",
        says(f"{other.path}:"),
    ]


def test_the_report_begins_with_the_damage(
    plimsoll: Plimsoll, run: RunDirectory, says: Says
) -> None:
    (run.path / METRICS).unlink()
    assert plimsoll("report", "last", "--no-charts") == 0
    assert plimsoll.err == says("damaged", str(run.path / METRICS))
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
    plimsoll: Plimsoll, run: RunDirectory, name: str, command: list[str], says: Says
) -> None:
    damage(run, name)
    assert plimsoll(*command) == 4
    assert plimsoll.err == says(str(name))


def test_an_edited_result_is_shown_nowhere(
    plimsoll: Plimsoll, run: RunDirectory, says: Says
) -> None:
    result = json.loads(run.result.read_text())
    result["load_line"]["pps_per_direction"] = 9.0e6
    run.result.write_text(json.dumps(result))
    for command, code in ((["list"], 0), (["show", run.path], 4), (["check", run.path], 4)):
        assert plimsoll("runs", *command) == code
        assert plimsoll.err == says("runs/20260314T092653-demo/result.json")
        assert "9 Mpps" not in plimsoll.out
    assert plimsoll("report", run.path) == 4
    with pytest.raises(RecordError) as caught:
        check_resume(Experiment.model_construct(), run)
    assert caught.value == says("journal.jsonl")


def test_a_journal_cut_before_its_validation_is_an_error(
    plimsoll: Plimsoll, run: RunDirectory, says: Says
) -> None:
    lines = run.journal.read_text().splitlines(keepends=True)
    kept = [
        line
        for line in lines
        if not (line.startswith('{"kind": "trial"') and '"phase": "validation"' in line)
    ]
    assert len(kept) < len(lines)
    run.journal.write_text("".join(kept))
    with pytest.raises(RecordError) as caught:
        check_resume(Experiment.model_construct(), run)
    assert caught.value == says()
    assert plimsoll("report", run.path) == 4
    assert plimsoll.err == says("runs/20260314T092653-demo/journal.jsonl", "43")
