"""Files below a root, which may be anybody's."""

import os
from pathlib import Path

import pytest

from plimsoll.tune.host.rooted_files import MOST_FILE_BYTES, RootedFiles
from plimsoll.tune.host.unread import Unread


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text("outside")
    root = tmp_path / "root"
    (root / "proc" / "sys").mkdir(parents=True)
    (root / "proc" / "cmdline").write_text("  ro quiet\n")
    return root


def test_text_comes_without_blanks_around_it(root: Path) -> None:
    assert RootedFiles(root).text("/proc/cmdline") == "ro quiet"


def test_names_are_sorted(root: Path) -> None:
    assert RootedFiles(root).names("/proc") == ("cmdline", "sys")


def test_what_is_absent_is_told_from_what_is_not_read(root: Path) -> None:
    files = RootedFiles(root)
    assert files.text("/proc/version") == Unread("/proc/version", "absent")
    assert files.text("/proc/cmdline/below") == Unread("/proc/cmdline/below", "absent")
    assert files.text("/pro\0c") == Unread("/pro\0c", "absent")
    found = files.text("/proc/sys")
    assert isinstance(found, Unread)
    assert found.cause == "unreadable"


@pytest.mark.parametrize("target", ["../../../secret", "/secret", "../../../../../../secret"])
def test_links_are_followed_below_the_root_alone(root: Path, target: str) -> None:
    (root / "proc" / "link").symlink_to(target)
    assert RootedFiles(root).text("/proc/link") == Unread("/proc/link", "absent")
    (root / "secret").write_text("inside")
    assert RootedFiles(root).text("/proc/link") == "inside"
    assert RootedFiles(root).target("/proc/link") == target


def test_a_directory_that_is_a_link_does_not_lead_out(root: Path, tmp_path: Path) -> None:
    (root / "sys").symlink_to(tmp_path)
    assert isinstance(RootedFiles(root).text("/sys/secret"), Unread)
    assert isinstance(RootedFiles(root).text("/sys/../../secret"), Unread)


def test_links_that_never_end_are_unreadable(root: Path) -> None:
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    found = RootedFiles(root).text("/a")
    assert isinstance(found, Unread)
    assert found.cause == "unreadable"


def test_a_fifo_does_not_wait_for_a_writer(root: Path) -> None:
    os.mkfifo(root / "pipe")
    assert RootedFiles(root).text("/pipe") == Unread("/pipe", "unreadable", "not a regular file")


def test_a_huge_file_is_refused(root: Path) -> None:
    with (root / "huge").open("wb") as file:
        file.truncate(MOST_FILE_BYTES + 1)
    found = RootedFiles(root).text("/huge")
    assert isinstance(found, Unread)
    assert found.reason == "larger than 16 MiB"


def test_this_hosts_own_sysctls_are_read() -> None:
    """procfs refuses to read them in pieces of megabytes."""
    assert RootedFiles(Path("/")).text("/proc/sys/kernel/ostype") == "Linux"
