"""Where the kernel's trace file system is found."""

import os
from pathlib import Path

import pytest

from plimsoll.host import tracefs
from plimsoll.host.tracefs import find_tracefs, own_tracefs


def test_it_is_where_it_is_mounted(tmp_path: Path) -> None:
    (tmp_path / "tracing" / "instances").mkdir(parents=True)
    mounts = tmp_path / "mounts"
    mounts.write_text(f"proc /proc proc rw 0 0\ntracefs {tmp_path}/tracing tracefs rw 0 0\n")
    assert find_tracefs(mounts, ()) == tmp_path / "tracing"


def test_it_is_where_debugfs_mounts_it(tmp_path: Path) -> None:
    place = tmp_path / "debug" / "tracing"
    (place / "instances").mkdir(parents=True)
    mounts = tmp_path / "mounts"
    mounts.write_text("debugfs /sys/kernel/debug debugfs rw 0 0\n")
    assert find_tracefs(mounts, (tmp_path / "tracing", place)) == place


def test_elsewhere_it_is_a_mount_of_our_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracefs, "own_tracefs", lambda: tmp_path / "own")
    assert find_tracefs(tmp_path / "mounts", (tmp_path,)) == tmp_path / "own"


def test_our_own_mount_is_nobody_elses() -> None:
    before = Path("/proc/mounts").read_text()
    try:
        place = own_tracefs()
    except OSError as error:
        pytest.skip(f"tracefs cannot be mounted here: {error}")
    assert "x86-tsc" in (place / "trace_clock").read_text() or (place / "instances").is_dir()
    assert Path("/proc/mounts").read_text() == before
    assert place == own_tracefs()
    # Not for programs that are started: they would keep it.
    descriptor = int(place.name)
    assert not os.get_inheritable(descriptor)
