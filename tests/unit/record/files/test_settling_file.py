import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.record.files.growing_files import SettlingFile, open_stretch, settling_lines
from plimsoll.record.files.record_error import RecordError
from tests.unit.record.file_size_limit import at_most_4_kib_a_file


def lines(path: Path) -> list[str]:
    return list(settling_lines(path))


def test_what_is_held_is_read_until_it_settles_as_something_else(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with SettlingFile(path) as file:
        file.append(["first"])
        file.hold(["one", "two"])
        file.hold(["three"])
        assert lines(path) == ["first", "one", "two", "three"]
        assert path.read_text() == "first\n"
        file.settle(["six"])
        assert lines(path) == ["first", "six"]
        file.append(["last"])
    assert path.read_text() == "first\nsix\nlast\n"
    assert not open_stretch(path).exists()


def test_what_a_kill_left_open_is_kept_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with SettlingFile(path) as file:
        file.append(["first"])
        file.hold(["one", "two"])
    open_stretch(path).write_text(open_stretch(path).read_text() + "tor")
    assert lines(path) == ["first", "one", "two"]
    with SettlingFile(path) as file:
        file.append(["next"])
    assert path.read_text() == "first\none\ntwo\nnext\n"


def test_a_kill_while_settling_doubles_and_loses_nothing(tmp_path: Path) -> None:
    path, kept = tmp_path / "log", tmp_path / "kept"
    with SettlingFile(path) as file:
        file.append(["first"])
        file.hold(["one", "two"])
        shutil.copy(open_stretch(path), kept)
        file.settle(["three", "four"])
    # As it is between the last write to the one file and the removal of the other; torn, too.
    for settled in ("first\nthree\nfour\n", "first\nthree\nfo", "first\n"):
        path.write_text(settled)
        shutil.copy(kept, open_stretch(path))
        assert lines(path) == ["first", "one", "two"]
        SettlingFile(path).close()
        assert path.read_text() == "first\none\ntwo\n"
        assert not open_stretch(path).exists()


def test_a_stretch_killed_before_its_first_line_is_nothing(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("first\n")
    open_stretch(path).write_text('{"follows')
    assert lines(path) == ["first"]
    SettlingFile(path).close()
    assert lines(path) == ["first"]


def test_without_a_file_there_are_no_lines(tmp_path: Path) -> None:
    assert lines(tmp_path / "log") == []


def test_a_full_disk_leaves_what_was_held(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with SettlingFile(path) as file:
        file.hold(["a" * 3000])
        with at_most_4_kib_a_file(), pytest.raises(RecordError):
            file.settle(["b" * 5000])
        assert lines(path) == ["a" * 3000]
        file.settle(["c"])
    assert lines(path) == ["c"]


steps = st.lists(st.tuples(st.lists(st.text("ab", max_size=3), max_size=3), st.booleans()))


@given(steps=steps, held=st.lists(st.text("cd", max_size=3), max_size=3), cut=st.integers(0, 30))
def test_wherever_it_is_killed_whole_lines_stay_in_order(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[list[str], bool]],
    held: list[str],
    cut: int,
) -> None:
    path = tmp_path_factory.mktemp("settling") / "log"
    expected: list[str] = []
    with SettlingFile(path) as file:
        for written, settling in steps:
            if settling:
                file.hold(["detail"])
                file.settle(written)
            else:
                file.append(written)
            expected += written
        file.hold(held)
    stretch = open_stretch(path).read_text()
    whole = stretch[: max(0, len(stretch) - cut)]
    open_stretch(path).write_text(whole)
    expected += whole.split("\n")[1:-1]
    assert lines(path) == expected
    SettlingFile(path).close()
    assert lines(path) == expected
