import os
import stat
from pathlib import Path

import pytest

from plimsoll.errors import MachineError
from plimsoll.host.state_root import state_root
from tests.worded.says import Says


def test_the_variable_chooses_and_the_directory_is_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLIMSOLL_STATE", str(tmp_path / "deep" / "state"))
    root = state_root()
    assert root == tmp_path / "deep" / "state"
    assert stat.S_IMODE(root.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("uid", "runtime", "expected"),
    [
        (0, "/run/user/0", "/run/plimsoll"),
        (1000, "{tmp}/user", "{tmp}/user/plimsoll"),
        (1000, "", "{tmp}/plimsoll-1000"),
    ],
)
def test_each_user_has_a_root_of_their_own(
    uid: int, runtime: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PLIMSOLL_STATE", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", runtime.format(tmp=tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(os, "getuid", lambda: uid)
    made: list[Path] = []

    def refuse(path: Path, **_: object) -> None:
        made.append(path)
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(MachineError):
        state_root()
    assert made == [Path(expected.format(tmp=tmp_path))]


def test_a_directory_that_others_may_write_to_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    tmp_path.chmod(0o777)
    monkeypatch.setenv("PLIMSOLL_STATE", str(tmp_path))
    with pytest.raises(MachineError) as caught:
        state_root()
    assert caught.value == says("PLIMSOLL_STATE")


def test_a_link_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: Says) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there")
    monkeypatch.setenv("PLIMSOLL_STATE", str(tmp_path / "link"))
    with pytest.raises(MachineError) as caught:
        state_root()
    assert caught.value == says()


def test_a_file_in_the_way_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PLIMSOLL_STATE", str(tmp_path / "file"))
    with pytest.raises(MachineError) as caught:
        state_root()
    assert caught.value == says()
