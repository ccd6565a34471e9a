"""Whose a thread is, by a /proc written by hand and by real processes of a real ledger."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.ledger.own_processes import StartedByRun
from plimsoll.host.processes.identity import identify

MARK = "RUNTIME_DIRECTORY=/run/plimsoll/run-abc"


def task(  # noqa: PLR0917
    proc: Path, thread: int, process: int, parent: int, name: str, environment: str = ""
) -> None:
    folder = proc / str(thread)
    folder.mkdir()
    status = f"Name:\t{name}\nTgid:\t{process}\nPid:\t{thread}\nPPid:\t{parent}\n"
    (folder / "status").write_text(status)
    (folder / "environ").write_bytes(f"HOME=/root\0{environment}\0".encode())


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    task(tmp_path, 100, 100, 1, "python3", MARK)  # the command
    task(tmp_path, 101, 100, 1, "asyncio_0", MARK)  # a thread of it
    task(tmp_path, 110, 110, 100, "ethtool")  # what it started
    task(tmp_path, 200, 200, 100, "dpdk-testpmd", MARK)  # the DUT
    task(tmp_path, 210, 210, 200, "sh", MARK)  # what the DUT started
    task(tmp_path, 300, 300, 1, "plimsoll-trace", MARK)  # of this run, its parent has ended
    task(tmp_path, 400, 400, 1, "plimsoll", "RUNTIME_DIRECTORY=/run/plimsoll/run-xyz")
    task(tmp_path, 401, 400, 1, "plimsoll-x")  # a thread of a colleague's
    task(tmp_path, 500, 500, 2, "kworker/1:2")
    return tmp_path


STARTED = StartedByRun(own=frozenset({100}), others=frozenset({200}), mark=MARK)


@pytest.mark.parametrize("thread", [100, 101, 110, 300])
def test_what_plimsoll_is_and_starts_is_its_own(proc: Path, thread: int) -> None:
    assert STARTED.own_threads([thread], proc) == {thread}


@pytest.mark.parametrize("thread", [200, 210, 400, 401, 500, 999])
def test_a_dut_and_whatever_is_merely_called_plimsoll_is_not(proc: Path, thread: int) -> None:
    assert STARTED.own_threads([thread], proc) == frozenset()


def test_a_ledger_knows_its_run_s_processes(state: Path) -> None:
    ledger = Ledger.create("run")
    wait = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with (
        subprocess.Popen(wait, stdin=subprocess.PIPE, env=ledger.environment) as helper,
        subprocess.Popen(wait, stdin=subprocess.PIPE, env=ledger.environment) as dut,
    ):
        ledger.note_process("dpdk-testpmd", identify(dut.pid))
        started = StartedByRun.of(ledger, None)
        assert started.own_threads([os.getpid(), helper.pid, dut.pid]) == {os.getpid(), helper.pid}
