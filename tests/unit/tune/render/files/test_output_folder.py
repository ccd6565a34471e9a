import os
from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.tune.render.files.output_folder import RECORD, write_files
from plimsoll.tune.render.files.rendered_file import RenderedFile
from tests.worded.says import Says


def file(path: str, text: str = "new\n", mode: int = 0o644) -> RenderedFile:
    return RenderedFile(path, text, does="", undo="", mode=mode)


def test_files_and_their_modes(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    written = write_files(folder, [file("a.yaml"), file("host/sbin/b", mode=0o755)])
    assert (written.paths, written.left) == (("a.yaml", "host/sbin/b"), ())
    assert (folder / "a.yaml").read_text() == "new\n"
    assert os.access(folder / "host/sbin/b", os.X_OK)
    assert sorted(each.name for each in folder.iterdir()) == [RECORD, "a.yaml", "host"]


def test_an_earlier_rendering_is_replaced(tmp_path: Path) -> None:
    write_files(tmp_path, [file("a", "old\n")])
    write_files(tmp_path, [file("a")])
    assert (tmp_path / "a").read_text() == "new\n"


def test_a_foreign_file_is_left_alone_and_nothing_is_written(tmp_path: Path, says: Says) -> None:
    (tmp_path / "b").write_text("mine\n")
    with pytest.raises(InputError) as caught:
        write_files(tmp_path, [file("a"), file("b")])
    assert caught.value == says("--output", "--force")
    assert caught.value.where == str(tmp_path)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["b"]
    assert (tmp_path / "b").read_text() == "mine\n"


def test_force(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("mine\n")
    write_files(tmp_path, [file("b")], force=True)
    assert (tmp_path / "b").read_text() == "new\n"


def test_a_file_that_the_user_has_changed_since_is_theirs(tmp_path: Path, says: Says) -> None:
    write_files(tmp_path, [file("a", "old\n")])
    (tmp_path / "a").write_text("old and changed\n")
    with pytest.raises(InputError) as caught:
        write_files(tmp_path, [file("a")])
    assert caught.value == says("--output", "--force")


def test_a_foreign_file_with_the_same_text_is_no_loss(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("new\n")
    assert write_files(tmp_path, [file("a")]).paths == ("a",)


def test_what_is_rendered_no_more_is_reported_until_it_is_gone(tmp_path: Path) -> None:
    write_files(tmp_path, [file("a"), file("b")])
    assert write_files(tmp_path, [file("a")]).left == ("b",)
    assert write_files(tmp_path, [file("a")]).left == ("b",)
    (tmp_path / "b").unlink()
    assert write_files(tmp_path, [file("a")]).left == ()


@pytest.mark.parametrize("forced", [False, True])
def test_links_are_not_followed(tmp_path: Path, forced: bool, says: Says) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "out"
    outside.mkdir()
    folder.mkdir()
    (folder / "host").symlink_to(outside)
    with pytest.raises(InputError) as caught:
        write_files(folder, [file("host/a")], force=forced)
    assert caught.value == says("--output")
    assert caught.value.where == str(folder / "host")
    assert list(outside.iterdir()) == []


def test_a_link_in_a_files_place(tmp_path: Path, says: Says) -> None:
    target = tmp_path / "target"
    target.write_text("mine\n")
    (tmp_path / "a").symlink_to(target)
    with pytest.raises(InputError) as caught:
        write_files(tmp_path, [file("a")], force=True)
    assert caught.value == says("a", "--output")
    assert target.read_text() == "mine\n"


def test_a_folder_in_a_files_place(tmp_path: Path, says: Says) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(InputError) as caught:
        write_files(tmp_path, [file("a")], force=True)
    assert caught.value == says("a", "--output")


def test_a_file_in_a_folders_place(tmp_path: Path, says: Says) -> None:
    (tmp_path / "host").write_text("")
    with pytest.raises(InputError) as caught:
        write_files(tmp_path, [file("host/a")], force=True)
    assert caught.value == says("host", "--output")


@pytest.mark.parametrize(
    "record",
    ["", "[]", "{", '{"files": {"a": 1}}', '{"files": {"../x": "0"}}', '{"x": 1}', "[" * 100_000],
)
def test_a_record_that_is_none_makes_nothing_ours(tmp_path: Path, record: str) -> None:
    (tmp_path / RECORD).write_text(record)
    (tmp_path / "a").write_text("mine\n")
    (tmp_path.parent / "x").write_text("")
    with pytest.raises(InputError, match="holds a"):
        write_files(tmp_path, [file("a")])
    assert write_files(tmp_path, [file("b")]).left == ()


def test_a_place_that_cannot_be_written(tmp_path: Path, says: Says) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError) as caught:
        write_files(tmp_path / "file" / "out", [file("a")])
    assert caught.value == says("--output")
