import errno
import os
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from plimsoll.record.files.record_error import RecordError
from plimsoll.record.run import run_lock
from plimsoll.record.run.run_lock import is_held, kept_idle, locked


def test_a_lock_is_held_for_the_length_of_a_with(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert not is_held(path)
    with locked(path):
        assert is_held(path)
        assert is_held(path)
    assert not is_held(path)


def test_asking_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert not is_held(path)
    assert not path.exists()
    path.write_text("99\n")
    assert not is_held(path)
    assert path.read_text() == "99\n"


def test_what_is_no_lock_file_is_not_held(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "folder").mkdir()
    assert not any(is_held(tmp_path / name) for name in ("pipe", "loop", "folder", "gone/lock"))


def test_who_asks_does_not_keep_a_run_from_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lock"
    path.touch()
    monkeypatch.setattr(run_lock, "_BETWEEN_TRIES_S", 0.2)
    locked_ = threading.Event()

    def ask_slowly() -> None:
        with kept_idle(path):
            locked_.set()
            time.sleep(0.1)

    asking = threading.Thread(target=ask_slowly)
    asking.start()
    locked_.wait()
    with locked(path):
        pass
    asking.join()


def test_an_idle_run_is_kept_so_without_a_trace(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.write_text("99\n")
    with kept_idle(path), pytest.raises(RecordError, match="pid 99"), locked(path):
        pass
    assert path.read_text() == "99\n"
    path.unlink()
    with kept_idle(path):
        assert not path.exists()
    with locked(path), pytest.raises(RecordError, match=f"pid {os.getpid()}"), kept_idle(path):
        pass


@pytest.mark.parametrize("hold", [locked, kept_idle])
def test_a_file_system_without_locks_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    hold: Callable[[Path], AbstractContextManager[None]],
) -> None:
    """As NFS is without its lock daemon."""

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    (tmp_path / "lock").touch()
    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(RecordError, match="No locks available") as refused, hold(tmp_path / "lock"):
        pass
    assert refused.value.where == str(tmp_path / "lock")
    assert "--runs" in refused.value.remedy
