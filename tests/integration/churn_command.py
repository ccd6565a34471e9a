"""`plimsoll churn` as a user starts it, and kills it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from plimsoll.host.ledger.ledger import ledgers
from plimsoll.host.processes.identity import processes_with_environment
from tests.integration.command import ROOT, until


def churn(*words: str | Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "plimsoll.cli", "churn", *map(str, words)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def killed_and_resumed(
    experiment: Path, folder: Path, longest_s: float
) -> tuple[Path, dict[str, Any]]:
    """The run and the result of one that is killed after its first cell, and resumed.

    The janitor must have removed all that the killed one had made.
    """
    process = churn(experiment, "--runs", folder / "runs", "--json")

    def journal() -> str:
        return "".join(path.read_text() for path in folder.glob("runs/*/journal.jsonl"))

    until(lambda: '"churn-cell"' in journal() or process.poll() is not None, longest_s)
    assert process.poll() is None
    time.sleep(2)
    (ledger,) = ledgers()
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    until(lambda: ledgers() == (), 60)
    assert not list(processes_with_environment(f"RUNTIME_DIRECTORY={ledger.directory}"))
    (run,) = (folder / "runs").iterdir()
    assert not (run / "control-plane").exists()
    again = churn("--resume", run, "--json")
    output, _ = again.communicate(timeout=longest_s)
    assert again.returncode == 0
    return run, json.loads(output)
