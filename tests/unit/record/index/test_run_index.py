import shutil
from pathlib import Path

import pytest

from plimsoll.record.index import find
from plimsoll.record.index.find import read_index
from plimsoll.record.index.run_entry import RunEntry, entry_of
from tests.unit.record.index.run_dirs import make_matrix, make_run, make_stopped


def test_damaged_runs_do_not_keep_the_others_from_being_listed(tmp_path: Path) -> None:
    make_run(tmp_path, "20260314T120001-a")
    (tmp_path / "20260314T120002-b").mkdir()
    make_stopped(tmp_path, "20260314T120003-c")
    (tmp_path / "20260314T120004-d").symlink_to("20260314T120004-d")
    states = {entry.run_id[-1]: entry.state for entry in read_index(tmp_path)}
    assert states == {"a": "finished", "b": "damaged", "c": "stopped", "d": "damaged"}


def test_a_matrix_is_one_run_unless_its_parts_are_requested(tmp_path: Path) -> None:
    make_matrix(tmp_path, "20260314T130000-sizes", parts=2)
    make_run(tmp_path, "20260315T130000-demo")
    assert [entry.run_id for entry in read_index(tmp_path)] == [
        "20260314T130000-sizes",
        "20260315T130000-demo",
    ]
    assert [entry.run_id for entry in read_index(tmp_path, parts=True)] == [
        "20260314T130000-sizes",
        "20260314T130000-sizes/iteration-0001/sample-1",
        "20260314T130000-sizes/iteration-0001/sample-2",
        "20260315T130000-demo",
    ]


def test_a_run_that_is_removed_in_between_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_run(tmp_path, "20260314T120001-a")
    make_run(tmp_path, "20260314T120002-b")

    def removed_before(run_id: str, path: Path) -> RunEntry:
        if run_id.endswith("-a"):
            shutil.rmtree(path)
        return entry_of(run_id, path)

    monkeypatch.setattr(find, "entry_of", removed_before)
    assert [entry.run_id for entry in read_index(tmp_path)] == ["20260314T120002-b"]
