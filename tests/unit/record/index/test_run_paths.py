from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.record.index.run_paths import part_paths, run_paths, time_in_id
from tests.unit.record.index.run_dirs import make_matrix, make_run


def names(root: Path) -> list[str]:
    return [path.name for path in run_paths(root)]


def test_runs_are_what_is_called_like_one_or_holds_a_part_of_one(tmp_path: Path) -> None:
    make_run(tmp_path, "renamed")
    (tmp_path / "20260314T120005-empty").mkdir()
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "journal.jsonl").touch()
    (tmp_path / "photographs").mkdir()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "experiment.yaml").touch()
    (tmp_path / "20260314T120005-a-file").touch()
    assert names(tmp_path) == ["20260314T120005-empty", "half", "renamed"]


def test_links_are_runs_where_they_lead_to_one_or_are_called_like_one(tmp_path: Path) -> None:
    run = make_run(tmp_path / "elsewhere")
    root = tmp_path / "runs"
    root.mkdir()
    (root / "linked").symlink_to(run)
    (root / "20260314T120005-gone").symlink_to("nowhere")
    (root / "loop").symlink_to("loop")
    (root / "dangling").symlink_to("nowhere")
    (root / "notes.txt").symlink_to(__file__)
    assert names(root) == ["20260314T120005-gone", "linked", "loop"]


def test_a_folder_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path, reason in ((tmp_path / "gone", "No such file"), (tmp_path / "file", "Not a dir")):
        with pytest.raises(InputError) as caught:
            run_paths(path)
        assert reason in caught.value.message
        assert caught.value.where == str(path)
        assert "--runs" in caught.value.remedy


def test_parts_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    matrix = make_matrix(tmp_path, parts=0)
    for part in ("iteration-0002/sample-10", "iteration-0002/sample-9", "iteration-10000/sample-1"):
        make_run(matrix / Path(part).parent, Path(part).name)
    (matrix / "iteration-0002" / "sample-x").mkdir()
    (matrix / "iteration-0003").mkdir()
    (matrix / "iteration-0004").symlink_to("iteration-0002")
    found = [path.relative_to(matrix).as_posix() for path in part_paths(matrix)]
    assert found == [
        "iteration-0002/sample-9",
        "iteration-0002/sample-10",
        "iteration-10000/sample-1",
    ]


def test_no_other_run_has_parts(tmp_path: Path) -> None:
    assert list(part_paths(make_run(tmp_path))) == []
    assert list(part_paths(tmp_path / "gone")) == []


@pytest.mark.parametrize(
    ("run_id", "unix_s"),
    [
        ("20260314T120005-demo", 1_773_489_605),
        ("20261399T120005-demo", None),
        ("19000101T000000-demo", 0),
        ("demo", None),
        ("20260314T120005", None),
    ],
)
def test_the_time_in_an_id(run_id: str, unix_s: int | None) -> None:
    assert time_in_id(run_id) == (None if unix_s is None else unix_s * 10**9)
