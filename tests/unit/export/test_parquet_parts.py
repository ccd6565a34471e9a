import errno
import shutil
from pathlib import Path

import duckdb
import pytest

from plimsoll.errors import InputError, MachineError
from plimsoll.export.parquet_parts import copy_parts, parquet_parts, periods_to_export
from plimsoll.record.metrics.interval_samples import interval_samples
from plimsoll.record.metrics.metric_log import MetricLog
from plimsoll.record.metrics.metrics import MetricsWriter
from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.export.exported_run import small_run
from tests.unit.record.trial_parts import BEGIN_NS, PLANS, second
from tests.worded.says import Says


def test_two_runs_are_one_table(tmp_path: Path) -> None:
    runs = [small_run(tmp_path / name) for name in ("a", "b")]
    second = runs[1].path.rename(runs[1].path.with_name(f"{runs[0].run_id}-2"))
    runs[1] = RunDirectory(second)
    for run in runs:
        copy_parts(run, periods_to_export(run), tmp_path / "lake", force=False)
    with duckdb.connect() as connection:
        found = connection.execute(
            "SELECT run, count(*), sum(count) FILTER (type = 'rx-pps') "
            "FROM read_parquet(?, hive_partitioning = true) GROUP BY run ORDER BY run",
            [str(tmp_path / "lake" / "*" / "*.parquet")],
        ).fetchall()
    # Two ports, two seconds: 1900 and 1000 frames each.
    assert found == [(run.run_id, 14, 4 * (1900 + 1000)) for run in runs]


def test_the_runs_of_a_matrix_do_not_take_each_others_place(tmp_path: Path) -> None:
    matrix = tmp_path / "20270101T000000-sizes"
    for number in (1, 2):
        made = small_run(tmp_path / str(number))
        part = matrix / f"iteration-000{number}" / "sample-1"
        part.parent.mkdir(parents=True)
        run = RunDirectory(made.path.rename(part))
        copy_parts(run, periods_to_export(run), tmp_path / "lake", force=False)
    assert sorted(folder.name for folder in (tmp_path / "lake").iterdir()) == [
        "run=20270101T000000-sizes.iteration-0001.sample-1",
        "run=20270101T000000-sizes.iteration-0002.sample-1",
    ]


def test_the_files_are_the_records_own(run: RunDirectory, tmp_path: Path) -> None:
    (copied,) = copy_parts(run, periods_to_export(run, ["trial-0002"]), tmp_path / "x", force=False)
    assert copied == tmp_path / "x" / f"run={run.run_id}" / "trial-0002.parquet"
    assert copied.read_bytes() == (run.metrics / "trial-0002.parquet").read_bytes()


def test_what_is_there_stays_unless_forced(run: RunDirectory, tmp_path: Path, says: Says) -> None:
    periods = periods_to_export(run)
    copy_parts(run, periods, tmp_path / "x", force=False)
    with pytest.raises(InputError, match="exists already") as raised:
        copy_parts(run, periods, tmp_path / "x", force=False)
    assert raised.value == says("--force")
    assert len(copy_parts(run, periods, tmp_path / "x", force=True)) == 2


def test_a_target_that_is_no_folder_is_reported(
    run: RunDirectory, tmp_path: Path, says: Says
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError) as caught:
        copy_parts(run, periods_to_export(run), tmp_path / "file", force=False)
    assert caught.value == says()


def test_of_a_disk_that_is_full_nothing_is_kept(
    run: RunDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    really_copy = shutil.copyfile

    def copy_half(source: Path, target: Path) -> None:
        really_copy(source, target)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", copy_half)
    periods = periods_to_export(run)
    with pytest.raises(MachineError) as caught:
        copy_parts(run, periods, tmp_path / "new" / "lake", force=False)
    assert caught.value == says(f"run={run.run_id}", "No space left")
    assert not (tmp_path / "new").exists()
    (tmp_path / "others").mkdir()
    with pytest.raises(MachineError):
        copy_parts(run, periods, tmp_path / "others", force=False)
    assert list((tmp_path / "others").iterdir()) == []


def test_a_running_trial_is_taken_as_it_is(run: RunDirectory) -> None:
    """The file that it grows in is left alone."""
    log = MetricLog("trial-0003", BEGIN_NS)
    samples = interval_samples(PLANS, second(), refused_is_lost=False)
    with MetricsWriter(run, "trial-0003") as writer:
        writer.append(log.samples(samples, BEGIN_NS, BEGIN_NS + 10**9))
        growing = run.metrics / "trial-0003.jsonl"
        before = growing.read_bytes()
        with parquet_parts(run, periods_to_export(run, ["trial-0003"])) as (part,):
            assert part.name == "trial-0003.parquet"
            with duckdb.connect() as connection:
                found = connection.execute(
                    "SELECT sum(count) FROM read_parquet(?) WHERE type = 'rx-pps'", [str(part)]
                ).fetchall()
        assert found == [(2010,)]
        assert growing.read_bytes() == before
        assert not part.exists()
