"""Churn runs of several releases, held against each other by commands."""

import json
import shutil
from pathlib import Path

import pytest

from plimsoll.record.index.summarise import note_summary
from tests.unit.churn.churn_record import CELLS, with_fsync, write_churn_run
from tests.unit.cli.runs_command import Plimsoll, exit_code
from tests.unit.kept_handlers import kept_handlers

ROOT = Path("runs")
FSYNC_MS = (4.25, 4.31, 4.12, 4.27, 4.22, 4.33, 4.19, 4.29, 4.24, 4.16, 4.28, 4.21)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve runs of each of two releases; the second's store syncs at 1.5 times the time."""
    folder = tmp_path_factory.mktemp("releases")
    with pytest.MonkeyPatch.context() as patch, kept_handlers():
        patch.chdir(folder)
        for release, slower in (("4.20", 1.0), ("4.21", 1.5)):
            for p99_ms in FSYNC_MS:
                cells = [with_fsync(each, slower * p99_ms) for each in CELLS]
                run = write_churn_run(ROOT, cells=cells)
                note_summary(run)
                assert exit_code(patch, "runs", "tag", run.run_id, f"release={release}") == 0
    return folder / ROOT


@pytest.fixture
def releases(plimsoll: Plimsoll, written: Path) -> None:
    shutil.copytree(written, ROOT)


@pytest.mark.slow
@pytest.mark.usefixtures("releases")
def test_trend_names_the_release_that_made_the_store_slower(plimsoll: Plimsoll) -> None:
    name = "etcd wal-fsync p99 at 100 percent"
    assert plimsoll("trend", "--by", "release", "--figure", name, "--json") == 0, plimsoll.err
    (figure,) = json.loads(plimsoll.out)["figures"]
    (change,) = figure["changes"]
    assert (change["release"], change["judgement"]) == ("4.21", "worse")
    # 4.245 ms is the median of FSYNC_MS.
    assert (change["before"], change["after"]) == (pytest.approx(4.245e6), pytest.approx(6.3675e6))
    assert plimsoll("trend", "--by", "release", "--figure", name, "--fail-if-worse") == 1
    assert f"{name} is worse" in plimsoll.out
    # What did not change is none of its regressions, and passes.
    assert plimsoll("trend", "--by", "release", "--fail-if-worse") == 0


@pytest.mark.slow
@pytest.mark.usefixtures("releases")
def test_compare_judges_each_figure(plimsoll: Plimsoll) -> None:
    assert plimsoll("compare", "release=4.20", "release=4.21", "--json") == 0, plimsoll.err
    found = {each["name"]: each for each in json.loads(plimsoll.out)["figures"]}
    assert found["etcd wal-fsync p99 at 0 percent"]["judgements"] == ["worse"]
    assert found["throughput over ovn at 100 percent"]["judgements"] == ["no difference seen"]


@pytest.mark.slow
def test_a_level_s_figure_is_a_gate(plimsoll: Plimsoll) -> None:
    run = write_churn_run(ROOT)
    note_summary(run)
    limit = "throughput_over_ovn_at_100_percent < 50"
    assert plimsoll("report", run.run_id, "--fail-if", limit) == 1
    assert "48.6 Mbit/s" in plimsoll.out + plimsoll.err
