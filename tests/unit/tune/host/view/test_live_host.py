"""A live host: its files, and commands that are stand-ins on PATH."""

from pathlib import Path

import pytest

from plimsoll.tune.host.view import live_host
from plimsoll.tune.host.view.host_view import CommandOutput
from plimsoll.tune.host.view.live_host import LiveHost
from plimsoll.tune.host.view.unread import CannotRead
from tests.worded.says import Says


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    return tmp_path


def install(folder: Path, name: str, script: str) -> None:
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def test_files_of_this_host_are_read() -> None:
    view = LiveHost()
    assert view.read("/proc/sys/kernel/ostype") == "Linux"
    assert "cpu0" in (view.listing("/sys/devices/system/cpu") or ())
    assert view.where == "this host"


def test_absent_is_none_and_why_not_says_so(says: Says) -> None:
    view = LiveHost()
    assert view.read("/proc/no-such-file") is None
    assert view.find("/proc/no-such-file") is None
    unread = view.why_not("/proc/no-such-file")
    assert unread is not None
    assert str(unread) == "/proc/no-such-file does not exist"
    with pytest.raises(CannotRead) as caught:
        view.need("/proc/no-such-file")
    assert caught.value == says("/proc/no-such-file")


def test_a_command_speaks_english_and_its_status_is_kept(programs: Path) -> None:
    install(programs, "tuned-adm", 'echo "$1 in $LC_ALL"; exit 3')
    assert LiveHost().command("tuned-adm active") == CommandOutput(3, "active in C")


def test_what_a_command_complains_of_counts_where_it_says_nothing(programs: Path) -> None:
    install(programs, "tuned-adm", "echo no profile >&2; exit 1")
    assert LiveHost().command("tuned-adm active") == CommandOutput(1, "no profile")


def test_a_command_that_cannot_ask_gave_no_answer(programs: Path, says: Says) -> None:
    install(programs, "systemctl", "echo Failed to connect to bus: Host is down >&2; exit 1")
    view = LiveHost()
    assert view.command("systemctl is-active tuned") is None
    with pytest.raises(CannotRead) as caught:
        view.need_command("systemctl is-active tuned")
    assert caught.value == says("systemctl is-active tuned")


def test_a_command_that_hangs_is_ended(
    programs: Path, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    monkeypatch.setattr(live_host, "_TIMEOUT_S", 0.2)
    install(programs, "tuned-adm", "exec sleep 60")
    with pytest.raises(CannotRead) as caught:
        LiveHost().need_command("tuned-adm active")
    assert caught.value == says("0.2", "tuned-adm active")


def test_a_command_that_is_not_installed_is_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotRead) as caught:
        LiveHost().need_command("tuned-adm active")
    assert caught.value == says("tuned-adm", "tuned-adm active", "tuned-adm is not installed")
    # The command is no file that could exist.
    message = "tuned-adm active does not run (tuned-adm is not installed)"
    assert str(caught.value.unread) == message
    assert caught.value.unread.cause == "absent"


def test_commands_do_not_answer_for_another_root(tmp_path: Path, programs: Path) -> None:
    install(programs, "tuned-adm", "echo mine")
    assert LiveHost(tmp_path).command("tuned-adm active") is None


def test_no_other_command_is_run(says: Says) -> None:
    with pytest.raises(ValueError) as caught:
        LiveHost().command("id")
    assert caught.value == says("id")


def test_what_is_not_mounted_at_another_root_is_unreadable_and_not_absent(
    tmp_path: Path, says: Says
) -> None:
    """A root file system on a disk: the kernel's files are nowhere, its host may have them."""
    (tmp_path / "proc").mkdir()
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/fstab").write_text("none\n")
    view = LiveHost(tmp_path)
    assert view.read("/etc/fstab") == "none"
    assert view.find("/etc/crypttab") is None
    with pytest.raises(CannotRead) as caught:
        view.find("/proc/swaps")
    assert caught.value == says("/proc")
    with pytest.raises(CannotRead) as caught:
        view.find_names("/sys/class/net")
    assert caught.value == says("/sys")
    unread = view.why_not("/proc/swaps")
    assert unread is not None
    assert unread.cause == "unreadable"


def test_the_session_is_that_of_the_caller_on_the_host_itself(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "192.168.0.7 50000 192.168.0.2 22")
    assert LiveHost().session() == {"SSH_CONNECTION": "192.168.0.7 50000 192.168.0.2 22"}
    assert LiveHost(tmp_path).session() == {}
    monkeypatch.delenv("SSH_CONNECTION")
    assert LiveHost().session() == {}
