"""Neighbours that run: real processes, which do nothing but what the test needs."""

import os
import signal
import sys
from pathlib import Path

import pytest

from plimsoll.errors import MachineError
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.child import Child
from plimsoll.neighbours.neighbour import Achieved, NeighbourModel
from plimsoll.neighbours.noise import NO_NOISE, Noise, session_processes
from tests.worded.says import Says

# Says that it is there, starts another, and waits to be signalled to end.
DISTURBS = """
import os, signal, subprocess, sys
other = subprocess.Popen(["sleep", "600"])
def end(*_):
    print("42", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
print(f"{os.sched_getaffinity(0)} {os.getpriority(os.PRIO_PROCESS, 0)}", flush=True)
signal.pause()
"""


class Disturbing(NeighbourModel):
    """A neighbour that runs a Python program."""

    program: str = DISTURBS
    files_in: Path | None = None

    @property
    def name(self) -> str:
        return "disturbing"

    @property
    def work_directory(self) -> Path | None:
        return self.files_in

    def find_program(self) -> str:
        return sys.executable

    def argv(self, program: str, report: Path, folder: Path) -> tuple[str, ...]:
        return (program, "-c", self.program, str(folder))

    def is_ready(self, child: Child, processes: int) -> bool:
        return processes > 1 and bool(child.log_tail(1))

    def achieved(self, child: Child, report: Path) -> Achieved:
        (said,) = child.log_tail(1)
        return Achieved("B/s", intensity=float(said) if said.isdigit() else None)


CPU = min(os.sched_getaffinity(0))


def test_it_runs_in_its_place_and_leaves_nothing(state: Path, tmp_path: Path) -> None:
    ledger = Ledger.create("test")
    neighbour = Disturbing(cpus=(CPU,), niceness=3, files_in=tmp_path)
    with Noise((neighbour,), ledger).during_trial() as noise:
        (log,) = ledger.directory.glob("noise-*.log")
        assert log.read_text() == f"{{{CPU}}} 3\n"
        (noted,) = ledger.record.processes
        assert noted.name == "disturbing"
        processes = session_processes(noted.identity.pid)
        assert len(processes) == 2
        assert set(noise.tasks) == set(processes)
        assert set(noise.tasks.values()) == {"disturbing"}
        (folder,) = tmp_path.iterdir()
        assert ledger.record.paths == (str(folder),)
    assert session_processes(noted.identity.pid) == ()
    assert list(tmp_path.iterdir()) == []
    (run,) = noise.runs
    assert (run.name, run.intensity, run.cpus, run.niceness) == ("disturbing", 42, (CPU,), 3)
    assert run.ended_early is None


def test_it_writes_itself_into_its_resctrl_group(state: Path, tmp_path: Path) -> None:
    tasks = tmp_path / "tasks"
    tasks.write_text("")
    with Noise((Disturbing(cpus=(CPU,)),), Ledger.create("test"), tasks).during_trial():
        # The kernel takes 0 for the task that writes, before that becomes the neighbour.
        assert tasks.read_text() == "0"


def test_one_that_ends_by_itself_is_reported(state: Path, says: Says) -> None:
    ledger = Ledger.create("test")
    with Noise((Disturbing(cpus=(CPU,)),), ledger).during_trial() as noise:
        (noted,) = ledger.record.processes
        child = os.pidfd_open(noted.identity.pid)
        os.kill(noted.identity.pid, signal.SIGKILL)
        os.waitid(os.P_PIDFD, child, os.WEXITED | os.WNOWAIT)
        os.close(child)
    (run,) = noise.runs
    assert run.ended_early == says("9")
    assert run.intensity is None


def test_one_that_does_not_start_is_refused_with_what_it_said(state: Path, says: Says) -> None:
    noise = Noise((Disturbing(cpus=(CPU,), program="exit('no way')"),), Ledger.create("test"))
    with pytest.raises(MachineError) as refused, noise.during_trial():
        pass
    assert refused.value.where == "noise[0]"
    assert refused.value == says("1")
    assert "no way" in refused.value.message


def test_after_a_failure_in_the_trial_nothing_is_left(state: Path) -> None:
    ledger = Ledger.create("test")

    def fail() -> None:
        with Noise((Disturbing(cpus=(CPU,)),), ledger).during_trial():
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    (noted,) = ledger.record.processes
    assert session_processes(noted.identity.pid) == ()


def test_without_neighbours_nothing_is_noted() -> None:
    with NO_NOISE.during_trial() as noise:
        assert noise.tasks == {}
    assert noise.runs == ()
