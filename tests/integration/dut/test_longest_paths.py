"""Every lab that this machine can have comes up from the longest path a ledger may have."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.dut.registry.labs import lab_kinds
from plimsoll.errors import MachineError
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.janitor import swept_ledger
from tests.integration.command import ROOT, Workplace
from tests.integration.dut.namespace_lab import settings_of
from tests.integration.unspoilt import unspoilt

# As the ledger says it (plimsoll/host/ledger/ledger.py), and the name of a trial's.
LONGEST_BYTES = 72
NAME = "trial-123456"
# They have no files of their own, or are somebody else's.
WITHOUT = {"loopback", "external", "simulated", "testpmd"}
GROUT = ROOT / "build" / "grout" / "bin"
LABS = [
    *({"kind": kind} for kind in lab_kinds() if kind not in WITHOUT),
    {"kind": "ovs-dpdk", "chain": "pvvp"},
    {"kind": "ovs", "chain": "pvp"},
]


@pytest.fixture
def long_state(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="pl-"))
    padding = LONGEST_BYTES - len(str(folder / NAME)) - 1
    state = folder / ("x" * padding)
    monkeypatch.setenv("PLIMSOLL_STATE", str(state))
    monkeypatch.setenv("PATH", f"{GROUT}:{os.environ['PATH']}")
    assert len(str(state / NAME)) == LONGEST_BYTES
    yield state
    shutil.rmtree(folder)


@pytest.mark.parametrize("lab", LABS, ids=str)
def test_it_comes_up(long_state: Path, lab: dict[str, str]) -> None:
    settings = settings_of(**lab)
    try:
        settings.check_machine()
    except MachineError as error:
        pytest.skip(str(error))
    with swept_ledger("trial") as ledger:
        assert len(str(ledger.directory)) == LONGEST_BYTES
        made = settings.make(ledger, MemoryPlan(huge=False, megabytes=0), "ours")
        try:
            assert made.up().devargs
        finally:
            made.down()


def test_the_engine_opens_what_lies_there(long_state: Path, place: Workplace) -> None:
    place.environment["PLIMSOLL_STATE"] = str(long_state)
    experiment = place.experiment()
    done = unspoilt(
        place,
        *("trial", experiment, "--load", "1kpps", "--duration", "1s", "--runs", place.runs),
    )
    assert done.returncode == 0, done.stdout + done.stderr
