"""A DUT that the tester does not have: testpmd in a network namespace, on a host behind ssh."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import yaml

from plimsoll.host.tracefs import find_tracefs
from tests.integration.command import Workplace
from tests.integration.remote_dut import RemoteDut

DUT_CPU = 1
_OBSERVER = "plimsoll-observe"


class DutHost(RemoteDut):
    """The host `dut`, whose observers keep their ledgers in `state`, also from one to the next."""

    def __init__(self, folder: Path, state: Path) -> None:
        super().__init__(folder, network=True)
        self.state = state
        self.boots_with("ro quiet")
        self.observer_runs()

    def observer_runs(self, prefix: str = "") -> None:
        """From now on as `prefix`, a command that runs another, has it."""
        state = f"export PLIMSOLL_STATE={self.state}"
        self.program(_OBSERVER, f"{state}\nexec {prefix} {self.command(_OBSERVER)}")

    def observers(self) -> list[psutil.Process]:
        """Those that run there, without their janitors."""
        return _with_state(self.state, "plimsoll.observe")

    def janitors(self) -> list[psutil.Process]:
        """Those of its observers."""
        return _with_state(self.state, "plimsoll.host.ledger.janitor")


@contextmanager
def dut_host(folder: Path) -> Iterator[DutHost]:
    """The host; what its observers left behind is in its `state`, and goes at the end."""
    state = Path(tempfile.mkdtemp(prefix="pl-"))
    place = folder / "dut"
    place.mkdir()
    try:
        yield DutHost(place, state)
    finally:
        for each in _with_state(state):
            each.kill()
        shutil.rmtree(state, ignore_errors=True)


@contextmanager
def standing_testpmd(place: Workplace) -> Iterator[dict[str, Any]]:
    """testpmd between two memif ports, in a network namespace of its own, and how to reach it."""
    up = place.run(
        "lab",
        "up",
        "--experiment",
        place.experiment(lab={"kind": "testpmd-memif", "cpu": DUT_CPU}),
        prefix=("unshare", "--net"),
    )
    assert up.returncode == 0, up.stderr
    name = up.stdout.split()[1]
    section = up.stdout.partition("with:\n")[2].partition("take it down")[0]
    try:
        yield yaml.safe_load(section)["lab"]
    finally:
        down = place.run("lab", "down", name)
        assert down.returncode == 0, down.stderr


def trace_instances() -> set[str]:
    """Those of any Plimsoll on this machine, which has one kernel with the host `dut`."""
    return {each.name for each in (find_tracefs() / "instances").glob("plimsoll-*")}


def _with_state(state: Path, module: str = "") -> list[psutil.Process]:
    found = []
    for each in psutil.process_iter():
        try:
            ours = each.environ().get("PLIMSOLL_STATE") == str(state)
            if ours and (not module or module in each.cmdline()):
                found.append(each)
        except psutil.Error:
            continue
    return found
