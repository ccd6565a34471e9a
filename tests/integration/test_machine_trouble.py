"""What the machine can refuse: each a clear message, an exit code, and nothing left behind."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from plimsoll.host.ledger.hugepage_claims import pools
from tests.integration.command import (
    Workplace,
    assert_goes_on,
    assert_nothing_is_left,
    finished_trials,
    hugepages,
    until,
)
from tests.integration.unspoilt import unspoilt

pytestmark = pytest.mark.alone


def test_dpdk_testpmd_is_missing(place: Workplace, tmp_path: Path) -> None:
    before = hugepages()
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "setpriv").symlink_to("/usr/bin/setpriv")
    place.environment["PATH"] = str(programs)
    done = place.run("run", place.experiment(), "--runs", place.runs)
    assert done.returncode == 3
    assert "dpdk-testpmd is missing" in done.stderr
    assert "dpdk-dev" in done.stderr
    assert_nothing_is_left(place, before)


def test_frames_too_large_for_the_lab(place: Workplace) -> None:
    stream = {"name": "load", "role": "load", "frame_size": 9218}
    done = place.run("run", place.experiment(profile={"streams": [stream]}), "--runs", place.runs)
    assert done.returncode == 2
    assert "frames of 9218 bytes" in done.stderr
    assert "at most 9216 bytes" in done.stderr
    assert not place.runs.exists()


def test_a_device_that_cannot_be_opened_is_explained_by_dpdk(place: Workplace) -> None:
    lab = {"kind": "external", "ports": [{"devargs": "net_nonsense0"}, {"devargs": "net_ring1"}]}
    done = place.run("run", place.experiment(lab=lab), "--runs", place.runs)
    assert done.returncode == 3
    assert "ports[0]" in done.stderr
    assert "net_nonsense0" in done.stderr


def test_a_second_run_in_the_same_directory(place: Workplace) -> None:
    search = {"minimum": "1kpps", "maximum": "1kpps", "duration": "60s"}
    # Without a DUT, so that a CPU is left for the second command.
    experiment = place.experiment(search=search, lab={"kind": "loopback"})
    first = place.start("run", experiment, "--runs", place.runs)
    try:
        until(lambda: first.poll() is not None or bool(place.journal_so_far()), "the run")
        assert_goes_on(first)
        second = place.run("run", "--resume", place.only_run())
    finally:
        first.terminate()
        first.communicate(timeout=120)
    assert second.returncode == 4
    assert str(first.pid) in second.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a file system needs root")
def test_the_disk_is_full(place: Workplace, tmp_path: Path) -> None:
    before = hugepages()
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96k", "tmpfs", str(small)], check=True)
    try:
        done = place.run("run", place.experiment(), "--runs", small)
        (run,) = small.iterdir()
        assert done.returncode == 4
        assert "No space left on device" in done.stderr
        assert "make room on this file system" in done.stderr
        # Every trial that was said to be finished is still readable.
        for trial in finished_trials(run):
            assert trial["number"] >= 1
    finally:
        subprocess.run(["umount", str(small)], check=True)
    assert_nothing_is_left(place, before)


READ_ONLY_HUGEPAGES = (
    *("unshare", "--mount", "sh", "-c"),
    "mount -o bind,ro /sys/kernel/mm/hugepages /sys/kernel/mm/hugepages && "
    'mount -o remount,bind,ro /sys/kernel/mm/hugepages && exec "$0" "$@"',
)


@pytest.mark.skipif(os.geteuid() != 0, reason="making the pool read-only needs root")
class TestWithoutPermissionToReserveHugepages:
    @pytest.fixture(autouse=True)
    def _there_are_none(self) -> None:
        if pools()[0].total > 0:
            pytest.skip("there are hugepages already")

    @pytest.mark.slow
    def test_it_runs_on_ordinary_pages_and_says_what_that_costs(self, place: Workplace) -> None:
        done = unspoilt(
            place,
            *("trial", place.experiment(), "--load", "2kpps", "--duration", "1s"),
            *("--runs", place.runs, "--json"),
            prefix=READ_ONLY_HUGEPAGES,
        )
        assert done.returncode == 0, done.stderr
        assert "ordinary 4 kB pages" in done.stderr
        assert all(stream["lost"] == 0 for stream in json.loads(done.stdout)["streams"])
        assert_nothing_is_left(place, 0)

    def test_an_experiment_that_requires_them_does_not_run(self, place: Workplace) -> None:
        experiment = place.experiment(require_hugepages=True)
        done = place.run("run", experiment, "--runs", place.runs, prefix=READ_ONLY_HUGEPAGES)
        assert done.returncode == 3
        assert "too few free hugepages" in done.stderr
        assert "vm.nr_hugepages" in done.stderr
        assert_nothing_is_left(place, 0)


def test_an_engine_of_another_version(place: Workplace, tmp_path: Path) -> None:
    before = hugepages()
    stand_in = tmp_path / "plimsoll-engine"
    hello = {"event": "hello", "engine": "plimsoll-engine", "version": "0.0.1", "protocol": 1}
    hello |= {"dpdk": "DPDK 22.11", "pid": 1}
    stand_in.write_text(f"#!/bin/sh\necho '{json.dumps(hello)}'\ncat >/dev/null\n")
    stand_in.chmod(0o755)
    place.environment["PLIMSOLL_ENGINE"] = str(stand_in)
    done = place.run("run", place.experiment(), "--runs", place.runs)
    assert done.returncode == 3
    assert "version 0.0.1" in done.stderr
    assert_nothing_is_left(place, before)
