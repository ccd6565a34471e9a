"""A cgroup with a CPU limit on this host, in whichever version has the controller here."""

import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.observe.cgroups.cgroup_cpu import CgroupCpu
from plimsoll.observe.cgroups.cgroup_pressure import CgroupPressure
from plimsoll.observe.reading.observer import Observation, ObservedHost
from tests.unit.observe.watched import Rows, Watched

pytestmark = pytest.mark.alone

BUSY = "while True: pass"
_PATIENCE_S = 300


def mounted(kind: str, controller: str) -> Path | None:
    """Where a hierarchy with this controller is mounted; any of v2."""
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, point, found, options, *_ = line.split(" ")
        if found == kind and (kind == "cgroup2" or controller in options.split(",")):
            return Path(point)
    return None


@pytest.fixture
def limited() -> Iterator[Path]:
    """A cgroup that may run 2 ms in each 100 ms: less than its share of any busy machine."""
    v1, v2 = mounted("cgroup", "cpu"), mounted("cgroup2", "cpu")
    root = v1 or v2
    if root is None:
        pytest.skip("no cgroup hierarchy is mounted")
    folder = root / f"plimsoll-test-{os.getpid()}-{secrets.token_hex(3)}"
    try:
        folder.mkdir()
        if v1:
            (folder / "cpu.cfs_quota_us").write_text("2000")
        else:
            (folder / "cpu.max").write_text("2000 100000")
    except OSError as error:
        if folder.exists():
            folder.rmdir()
        pytest.skip(f"a cgroup with a CPU limit cannot be made here: {error}")
    yield folder
    remove(folder)


def remove(folder: Path) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while folder.exists():
        try:
            folder.rmdir()
        except OSError:
            # Its last process has not been reaped yet.
            assert time.monotonic() < deadline
            time.sleep(0.02)


@pytest.fixture
def busy(limited: Path) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", BUSY])
    try:
        (limited / "cgroup.procs").write_text(str(process.pid))
        yield process
    finally:
        process.kill()
        process.wait()


def read_until_throttled(watched: Watched, path: str) -> Rows:
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        time.sleep(0.25)
        rows = watched.read()
        if sum(each or 0 for each in rows.counts("cpu-throttled-periods-sec", cgroup=path)):
            return rows
        assert time.monotonic() < deadline


def test_a_busy_loop_in_a_limited_cgroup_is_throttled(
    limited: Path, busy: subprocess.Popen[bytes]
) -> None:
    path = f"/{limited.name}"
    host = ObservedHost(observation=Observation(pids={"dut": busy.pid}))
    before = throttled_periods(limited)
    watched = Watched(CgroupCpu, host)
    rows = read_until_throttled(watched, path)
    recorded = sum(each or 0 for each in rows.counts("cpu-throttled-periods-sec", cgroup=path))
    assert 0 < recorded <= throttled_periods(limited) - before
    assert sum(each or 0 for each in rows.counts("cpu-throttled-usec-sec", cgroup=path)) > 0
    assert rows.matching("cpu-periods-sec", cgroup=path, process="dut")


def throttled_periods(cgroup: Path) -> int:
    lines = (cgroup / "cpu.stat").read_text().splitlines()
    return int(dict(line.split(" ") for line in lines)["nr_throttled"])


def test_a_cgroup_that_is_removed_while_it_is_watched_is_absent(limited: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", BUSY])
    try:
        (limited / "cgroup.procs").write_text(str(process.pid))
        host = ObservedHost(observation=Observation(pids={"dut": process.pid}))
        watched = Watched(CgroupCpu, host)
        watched.read()
    finally:
        process.kill()
        process.wait()
    remove(limited)
    watched.read()
    rows = watched.read()
    assert rows.times("cpu-periods-sec", cgroup=f"/{limited.name}")[-1][1] == 1


@pytest.mark.skipif(not Path("/proc/pressure/cpu").exists(), reason="the kernel has no PSI")
def test_busy_loops_that_share_a_cpu_press_on_it() -> None:
    before = Watched(CgroupPressure, ObservedHost())
    cpu = min(os.sched_getaffinity(0))
    argv = ["taskset", "--cpu-list", str(cpu), sys.executable, "-c", BUSY]
    loops = [subprocess.Popen(argv) for _ in range(2)]
    try:
        deadline = time.monotonic() + _PATIENCE_S
        pressed = 0.0
        while not pressed:
            assert time.monotonic() < deadline
            time.sleep(0.1)
            rows = before.read()
            of_cpu = {"cgroup": "host", "resource": "cpu", "kind": "some"}
            pressed = sum(each or 0 for each in rows.counts("pressure-usec-sec", **of_cpu))
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
