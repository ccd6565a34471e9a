from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.export.output_file import fresh_file
from tests.worded.says import Says


def test_nothing_is_there_before_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    with fresh_file(path, force=False) as file:
        file.write("a\r\n")
        assert not path.exists()
    assert path.read_bytes() == b"a\r\n"
    assert list(tmp_path.iterdir()) == [path]


def test_what_went_wrong_leaves_nothing(tmp_path: Path) -> None:
    def fail_half_way() -> None:
        with fresh_file(tmp_path / "out", force=False) as file:
            file.write("half")
            raise KeyError

    with pytest.raises(KeyError):
        fail_half_way()
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_not_replaced_unasked(tmp_path: Path, says: Says) -> None:
    path = tmp_path / "out"
    path.write_text("before")
    with pytest.raises(InputError, match="exists already") as raised, fresh_file(path, force=False):
        pass
    assert raised.value.where == str(path)
    assert raised.value == says("--force")
    assert path.read_text() == "before"
    with fresh_file(path, force=True) as file:
        file.write("after")
    assert path.read_text() == "after"


def test_a_link_to_nowhere_is_something_too(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with (
        pytest.raises(InputError, match="exists already"),
        fresh_file(tmp_path / "link", force=False),
    ):
        pass


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"), fresh_file(tmp_path, force=True):
        pass


def test_a_place_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "out"
    with (
        pytest.raises(InputError, match="cannot be written: No such file") as raised,
        fresh_file(path, force=False),
    ):
        pass
    assert raised.value.where == str(path)
