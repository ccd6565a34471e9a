from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.record.files.growing_files import AppendFile
from plimsoll.record.files.record_error import RecordError
from tests.unit.record.file_size_limit import at_most_4_kib_a_file
from tests.worded.says import Says


def test_lines_of_two_writers_follow_each_other(tmp_path: Path) -> None:
    for text in ("first", "second"):
        with AppendFile(tmp_path / "log", sync=True) as file:
            file.append([text])
    assert (tmp_path / "log").read_text() == "first\nsecond\n"


def test_a_torn_last_line_is_cut_off_on_opening(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("whole\ntorn")
    with AppendFile(path) as file:
        file.append(["next"])
    assert path.read_text() == "whole\nnext\n"


@given(lines=st.lists(st.text("ab", max_size=9), max_size=6), torn=st.text("ab", max_size=9))
def test_whatever_is_torn_whole_lines_stay(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], torn: str
) -> None:
    path = tmp_path_factory.mktemp("append") / "log"
    whole = "".join(f"{line}\n" for line in lines)
    path.write_text(whole + torn)
    AppendFile(path).close()
    assert path.read_text() == whole


def test_a_line_longer_than_a_block_is_torn_as_well(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("whole\n" + "x" * 200_000)
    AppendFile(path).close()
    assert path.read_text() == "whole\n"


def test_a_full_disk_harms_nothing_that_was_recorded(tmp_path: Path, says: Says) -> None:
    path = tmp_path / "log"
    with AppendFile(path, sync=True) as file:
        file.append(["a" * 3000])
        with at_most_4_kib_a_file(), pytest.raises(RecordError) as caught:
            file.append(["b" * 3000])
        file.append(["c"])
    assert path.read_text() == "a" * 3000 + "\nc\n"
    assert caught.value.where == str(path)
    assert "MiB free" in caught.value.message
    assert caught.value == says()


def test_no_space_left_is_said_in_the_systems_words(says: Says) -> None:
    with AppendFile(Path("/dev/full")) as file, pytest.raises(RecordError) as caught:
        file.append(["anything"])
    assert caught.value == says("No space left on device")


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, says: Says) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError) as caught:
        AppendFile(tmp_path / "file" / "log")
    assert caught.value.where == str(tmp_path / "file" / "log")
    assert caught.value == says()
