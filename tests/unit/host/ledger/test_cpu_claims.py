import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.errors import MachineError
from plimsoll.host.ledger.cpu_claims import (
    CpuClaim,
    claim_cpus,
    cpus_polled_by_others,
    refuse_polled_cpus,
)
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.identity import ProcessIdentity, identify
from tests.worded.says import Says


@pytest.fixture
def poller() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


def standing_lab(poller: subprocess.Popen[bytes], cpu: int) -> Ledger:
    ledger = Ledger.create("lab")
    claim_cpus(ledger, [CpuClaim("lab.cpu", cpu, "dpdk-testpmd")])
    ledger.note_process("dpdk-testpmd", identify(poller.pid))
    ledger.hand_over()
    return ledger


def test_a_cpu_of_a_standing_lab_is_refused_with_how_to_end_it(
    state: Path, poller: subprocess.Popen[bytes], says: Says
) -> None:
    lab = standing_lab(poller, 1)
    refuse_polled_cpus([("generator.cpus[0]", 0)])
    with pytest.raises(MachineError) as refused:
        refuse_polled_cpus([("generator.cpus[0]", 0), ("lab.cpu", 1)])
    assert refused.value.where == "lab.cpu"
    assert refused.value.message == f"CPU 1 is polled by {lab.id} (dpdk-testpmd {poller.pid})"
    assert refused.value == says("lab", str(lab.id))


def test_a_lab_of_another_state_directory_counts_too(
    state: Path,
    poller: subprocess.Popen[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lab = standing_lab(poller, 1)
    monkeypatch.setenv("PLIMSOLL_STATE", str(state / "other"))
    with pytest.raises(MachineError, match=f"CPU 1 is polled by {lab.id}"):
        claim_cpus(Ledger.create("run"), [CpuClaim("lab.cpu", 1, "dpdk-testpmd")])


def test_a_lab_whose_process_has_died_polls_nothing(
    state: Path, poller: subprocess.Popen[bytes]
) -> None:
    standing_lab(poller, 1)
    poller.kill()
    poller.wait()
    refuse_polled_cpus([("lab.cpu", 1)])


def test_a_run_that_is_starting_has_its_cpus_already(state: Path, says: Says) -> None:
    run = Ledger.create("run")
    claim_cpus(run, [CpuClaim("generator.cpus[0]", 0, "plimsoll-engine")])
    with pytest.raises(MachineError) as refused:
        claim_cpus(Ledger.create("noise"), [CpuClaim("--cpus", 0, "plimsoll-engine")])
    assert refused.value == says("0", str(run.id), "plimsoll-engine", str(os.getpid()))


def test_what_a_run_claimed_itself_is_no_hindrance(state: Path) -> None:
    run = Ledger.create("run")
    for _ in range(2):
        claim_cpus(run, [CpuClaim("generator.cpus[0]", 0, "plimsoll-engine")])


def test_a_dead_run_and_one_that_was_undone_poll_nothing(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Ledger.create("run")
    claim_cpus(run, [CpuClaim("generator.cpus[0]", 0, "plimsoll-engine")])
    with monkeypatch.context() as patch:
        patch.setattr(ProcessIdentity, "alive", False)
        refuse_polled_cpus([("lab.cpu", 0)])
    run.undo()
    refuse_polled_cpus([("lab.cpu", 0)])


def test_what_others_poll_is_what_a_run_keeps_off(
    state: Path, poller: subprocess.Popen[bytes]
) -> None:
    standing_lab(poller, 1)
    run = Ledger.create("run")
    claim_cpus(run, [CpuClaim("generator.cpus[0]", 0, "plimsoll-engine")])
    assert cpus_polled_by_others(run) == {1}
    poller.kill()
    poller.wait()
    assert cpus_polled_by_others(run) == set()
