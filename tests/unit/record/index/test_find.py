import os
from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.index.find import find_run, find_run_path
from tests.unit.record.index.run_dirs import (
    NOON_NS,
    make_matrix,
    make_run,
    make_stopped,
    nobody,
    open_folder,
    started,
)
from tests.worded.says import Says


def refusal(text: str, root: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        find_run_path(text, root)
    return caught.value


def test_a_run_is_found_by_its_id_its_path_and_the_beginning_of_its_id(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    make_run(root, "20260314T120005-demo")
    path = make_run(root, "20260315T120005-demo")
    for text in ("20260315T120005-demo", str(path), "20260315", f"{path}/"):
        assert find_run(text, root).path == path


def test_a_path_may_be_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_run(tmp_path / "elsewhere", "renamed")
    monkeypatch.chdir(tmp_path)
    assert find_run("elsewhere/renamed", Path("runs")).path.resolve() == path
    monkeypatch.chdir(path.parent)
    assert find_run("renamed", Path("runs")).path.resolve() == path
    monkeypatch.chdir(path)
    assert find_run(".", Path("runs")).path.resolve() == path


def test_a_whole_id_is_one_run_even_if_others_begin_so(tmp_path: Path) -> None:
    path = make_run(tmp_path, "20260314T120005-demo")
    make_run(tmp_path, "20260314T120005-demo-2")
    assert find_run("20260314T120005-demo", tmp_path).path == path


def test_an_id_comes_before_a_directory_here_of_the_same_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_run(tmp_path / "runs", "demo")
    make_run(tmp_path, "demo")
    monkeypatch.chdir(tmp_path)
    assert find_run("demo", tmp_path / "runs").path == path
    assert find_run("./demo", tmp_path / "runs").path.resolve() == tmp_path / "demo"


def test_a_directory_here_that_is_no_run_does_not_hide_a_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_run(tmp_path / "runs")
    (tmp_path / "2026").mkdir()
    monkeypatch.chdir(tmp_path)
    assert find_run("2026", Path("runs")).path.resolve() == path


def test_a_part_of_a_matrix_is_found_below_the_runs(tmp_path: Path) -> None:
    matrix = make_matrix(tmp_path, "20260314T130000-sizes")
    part = "20260314T130000-sizes/iteration-0001/sample-2"
    assert find_run(part, tmp_path).path == matrix / "iteration-0001" / "sample-2"


def test_the_last_run_is_the_one_that_began_last_whatever_it_is_called(tmp_path: Path) -> None:
    make_stopped(tmp_path, "zz-renamed", events=[started(at_unix_ns=NOON_NS)])
    path = make_stopped(tmp_path, "20260101T000000-a", events=[started(at_unix_ns=NOON_NS + 1)])
    assert find_run("last", tmp_path).path == path


def test_a_damaged_run_is_not_the_last_one(tmp_path: Path) -> None:
    path = make_run(tmp_path)
    (tmp_path / "20991231T235959-empty").mkdir()
    assert find_run("last", tmp_path).path == path


def test_candidates_are_reported_where_several_begin_so(tmp_path: Path, says: Says) -> None:
    for number in range(12):
        make_run(tmp_path, f"20260314T12000{number:x}-demo")
    error = refusal("20260314", tmp_path)
    assert error == says("12", "20260314T120000-demo", "20260314T120001-demo")
    assert error.message.endswith("20260314T120009-demo and 2 more")
    assert error.where == "20260314"


@pytest.mark.parametrize("text", ["nothing", "runs/nothing", "../../nothing", "x" * 5000])
def test_what_is_no_run_is_reported_with_the_folder(tmp_path: Path, text: str, says: Says) -> None:
    error = refusal(text, tmp_path)
    assert error == says(str(tmp_path), "plimsoll runs")
    assert "plimsoll runs" in error.remedy


@pytest.mark.parametrize("text", ["", "a\0b"])
def test_what_can_name_nothing_is_refused(tmp_path: Path, text: str, says: Says) -> None:
    assert refusal(text, tmp_path).message == says()


def test_without_a_folder_of_runs_it_is_named(tmp_path: Path, says: Says) -> None:
    error = refusal("last", tmp_path / "gone")
    assert error.where == str(tmp_path / "gone")
    assert error == says("gone", "--runs")
    assert "--runs" in error.remedy
    assert refusal("last", tmp_path).message == says()


def test_a_directory_that_is_no_run_is_refused(tmp_path: Path, says: Says) -> None:
    (tmp_path / "other").mkdir()
    with pytest.raises(InputError) as caught:
        find_run(str(tmp_path / "other"), tmp_path)
    assert caught.value == says("plimsoll run", "other")


def test_names_that_would_drive_the_terminal_are_written_out(tmp_path: Path) -> None:
    make_run(tmp_path, "evil-\x1b[31m-1")
    make_run(tmp_path, "evil-\x1b[31m-2")
    assert r"evil-\x1b[31m-1, evil-\x1b[31m-2" in refusal("evil", tmp_path).message
    assert refusal("gone\x1b", tmp_path).where == r"gone\x1b"


def test_a_run_that_may_not_be_looked_into_is_reported(says: Says) -> None:
    with open_folder() as root:
        path = make_run(root)
        path.chmod(0)
        with nobody(), pytest.raises(RecordError) as caught:
            find_run(path.name, root)
    assert caught.value == says("Permission denied")


def test_a_name_that_is_no_utf8_is_found(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    make_run(tmp_path, name)
    assert find_run("caf", tmp_path).run_id == name
