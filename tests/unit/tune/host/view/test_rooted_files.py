"""Files below a root, which may be anybody's."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plimsoll.tune.host.view.rooted_files import MAX_FILE_BYTES, RootedFiles
from plimsoll.tune.host.view.unread import Unread
from tests.this_thread import in_this_thread
from tests.worded.says import Says


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


def test_what_is_absent_is_distinguished_from_what_is_not_read(root: Path) -> None:
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


def test_a_fifo_does_not_wait_for_a_writer(root: Path, says: Says) -> None:
    os.mkfifo(root / "pipe")
    assert RootedFiles(root).text("/pipe") == Unread("/pipe", "unreadable", says())


def test_a_huge_file_is_refused(root: Path) -> None:
    with (root / "huge").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    found = RootedFiles(root).text("/huge")
    assert isinstance(found, Unread)
    assert found.reason == "larger than 16 MiB"


def test_this_hosts_own_sysctls_are_read() -> None:
    """procfs refuses to read them in pieces of megabytes."""
    assert RootedFiles(Path("/")).text("/proc/sys/kernel/ostype") == "Linux"


NOT_FOLLOWED = "a link in a home, which is not followed"


@pytest.fixture
def home(root: Path) -> Path:
    """Of a user who has a file a/b/c."""
    folder = root / "home/me/a/b"
    folder.mkdir(parents=True)
    (folder / "c").write_text("theirs")
    (root / "etc").mkdir()
    (root / "etc/c").write_text("root's")
    return root / "home/me"


def test_a_home_is_read(root: Path, home: Path) -> None:
    assert RootedFiles(root).text("/home/me/a/b/c") == "theirs"
    assert RootedFiles(root).names("/home/me/a") == ("b",)


@pytest.mark.parametrize("part", ["a", "a/b", "a/b/c"])
@pytest.mark.parametrize("target", ["/etc", "../../../../etc", "/etc/c", "x", "c"])
def test_no_link_in_a_home_is_followed(root: Path, home: Path, part: str, target: str) -> None:
    (home / part).rename(root / "away")
    (home / part).symlink_to(target)
    path = "/home/me/a/b/c"
    assert RootedFiles(root).text(path) == Unread(path, "unreadable", NOT_FOLLOWED)
    assert RootedFiles(root).names(path) == Unread(path, "unreadable", NOT_FOLLOWED)
    # Nor by the system, where the root is the host's own.
    own = f"{root}/home/me/a/b/c"
    assert isinstance(RootedFiles(root).text(own), Unread)


def test_a_home_that_root_has_put_elsewhere_is_read(root: Path, home: Path) -> None:
    """Image-based systems have /home -> var/home, and homes may lie on another disk."""
    (root / "var").mkdir()
    (root / "home").rename(root / "var/home")
    (root / "home").symlink_to("var/home")
    (root / "disk").mkdir()
    (root / "var/home/me").rename(root / "disk/me")
    (root / "var/home/me").symlink_to("/disk/me")
    assert RootedFiles(root).text("/home/me/a/b/c") == "theirs"


def test_no_path_climbs_out_of_a_home(root: Path, home: Path) -> None:
    path = "/home/me/a/../../../etc/c"
    assert RootedFiles(root).text(path) == Unread(path, "absent")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_hard_link_to_anothers_file_is_not_read(root: Path, home: Path, says: Says) -> None:
    """Where fs.protected_hardlinks is off a user can make one to a file of root's."""
    (home / "a/b/d").hardlink_to(root / "etc/c")
    os.chown(home, 1000, 1000)
    os.chown(home / "a/b/c", 1000, 1000)
    path = "/home/me/a/b/d"
    assert RootedFiles(root).text(path) == Unread(path, "unreadable", says())
    assert RootedFiles(root).text("/home/me/a/b/c") == "theirs"


def swapping(monkeypatch: pytest.MonkeyPatch, swap: Callable[[], object]) -> None:
    """Somebody swaps a path right after it was found to be no link."""
    looked_at = os.stat
    once = iter([swap])

    def stat(path: str, **options: Any) -> os.stat_result:
        found = looked_at(path, **options)
        for swap_it in once:
            swap_it()
        return found

    monkeypatch.setattr(os, "stat", in_this_thread(os.stat, stat))


@pytest.mark.parametrize("part", ["a", "a/b", "a/b/c"])
def test_a_link_put_there_after_the_look_is_not_followed(
    root: Path, home: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    here = home / part

    def swap() -> None:
        here.rename(root / "away")
        here.symlink_to(root / "etc" if part != "a/b/c" else root / "etc/c")

    swapping(monkeypatch, swap)
    found = RootedFiles(root).text("/home/me/a/b/c")
    assert found == "theirs" or isinstance(found, Unread)


def test_no_descriptor_stays_open(root: Path, home: Path) -> None:
    (root / "proc/loop").symlink_to("loop")
    files, before = RootedFiles(root), os.listdir("/proc/self/fd")
    for path in ("/home/me/a/b/c", "/home/me/none/c", "/proc/cmdline", "/proc/loop", "/none/x"):
        for ask in (files.text, files.names, files.target):
            ask(path)
    assert os.listdir("/proc/self/fd") == before
