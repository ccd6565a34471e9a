"""The remedy of a failed write names what there is to do, and a run to resume only where one is."""

import errno
import os
from pathlib import Path

import pytest

from plimsoll.record.files.record_error import RecordError, write_failed
from plimsoll.record.run.journal import Journal
from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.record.index.run_dirs import nobody, open_folder
from tests.worded.says import Says

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
READ_ONLY = OSError(errno.EROFS, os.strerror(errno.EROFS))


def begun(root: Path, method: str = "load-line") -> RunDirectory:
    run = RunDirectory.create(root, "demo", {})
    with Journal(run.journal) as journal:
        journal.append("run-started", method=method)
    return run


@pytest.mark.parametrize("error", [FULL, READ_ONLY])
def test_a_run_that_is_under_way_is_resumed(tmp_path: Path, error: OSError, says: Says) -> None:
    run = begun(tmp_path)
    for path in (run.histograms, run.metrics / "trial-0001.jsonl"):
        assert write_failed(path, error).remedy == says()


@pytest.mark.parametrize("error", [FULL, READ_ONLY])
def test_where_there_is_none_to_resume_the_command_is_given_again(
    tmp_path: Path, error: OSError, says: Says
) -> None:
    over = begun(tmp_path)
    over.result.write_text("{}")
    not_begun = RunDirectory.create(tmp_path, "demo", {})
    single = begun(tmp_path, "trial")
    for run in (over, not_begun, single):
        assert write_failed(run.report, error).remedy == says()
    assert write_failed(tmp_path / "other", error).remedy == says()


def test_a_file_instead_of_the_folder_of_runs(tmp_path: Path, says: Says) -> None:
    file = tmp_path / "file"
    file.touch()
    for root in (file, file / "below"):
        with pytest.raises(RecordError) as caught:
            RunDirectory.create(root, "demo", {})
        assert caught.value == says("--runs")


def test_a_folder_that_may_not_be_written(says: Says) -> None:
    with open_folder() as folder:
        (folder / "runs").mkdir(mode=0o555)
        with nobody(), pytest.raises(RecordError, match="nothing was run") as caught:
            RunDirectory.create(folder / "runs", "demo", {})
    assert caught.value == says("--runs")
