"""`plimsoll soak` as a process of its own, on the simulated lab."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.methods.soak.summary import summarise_soak
from plimsoll.record.run.run_directory import RunDirectory
from tests.integration.command import ROOT
from tests.integration.warm_start import run_warm
from tests.unit.methods.soak.soak_runs import soak_experiment

OVERLOAD = "1.1Mpps"


def test_a_kill_of_the_process_loses_no_closed_window(tmp_path: Path) -> None:
    experiment = tmp_path / "demo.yaml"
    experiment.write_text(json.dumps(soak_experiment().normalised()))
    command = [sys.executable, "-m", "plimsoll.cli", "soak"]
    options = ["--load", "500kpps", "--duration", "20h", "--window", "1m"]
    with subprocess.Popen(
        [*command, str(experiment), *options, "--runs", str(tmp_path / "runs")],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stderr is not None
        next(line for line in child.stderr if line.startswith("note: window 3,"))
        child.kill()
    (path,) = (tmp_path / "runs").iterdir()
    cut = summarise_soak(RunDirectory.open(path))
    assert cut.ended == "unfinished"
    assert cut.windows.passed >= 3
    assert cut.verdict == "pass"


@pytest.mark.slow
def test_the_command_says_how_it_ended(tmp_path: Path) -> None:
    experiment = tmp_path / "demo.yaml"
    experiment.write_text(json.dumps(soak_experiment().normalised()))
    words = ["soak", str(experiment), "--json"]
    where = ["--runs", str(tmp_path / "runs")]
    expected = (("500kpps", 0, "pass"), (OVERLOAD, 1, "fail"))
    for load, status, verdict in expected:
        options = ["--load", load, "--duration", "1m", "--window", "10s", *where]
        done = run_warm([*words, *options], ROOT, os.environ)
        assert done.returncode == status
        assert json.loads(done.stdout)["verdict"] == verdict
    options = ["--load", "500kpps", "--duration", "100h", "--window", "1m", *where]
    with subprocess.Popen(
        [sys.executable, "-m", "plimsoll.cli", *words, *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stderr is not None
        next(line for line in child.stderr if line.startswith("note: window 1,"))
        os.kill(child.pid, signal.SIGINT)
        output, _ = child.communicate()
    assert child.returncode == 130
    assert json.loads(output)["ended"] == "signal"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["demo.yaml", "--load", "1Mpps"], "name an experiment, a load and a duration"),
        (["--resume", "runs/x", "--window", "1m"], "keeps its own experiment and options"),
        (["demo.yaml", "--load", "much", "--duration", "1m"], "--load"),
        (["demo.yaml", "--load", "1Mpps", "--duration", "1m", "--window", "1s"], "too short to"),
    ],
)
def test_bad_options_are_answered(tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "demo.yaml").write_text(json.dumps(soak_experiment().normalised()))
    done = run_warm(["soak", *arguments], tmp_path, os.environ)
    assert done.returncode == 2
    assert message in done.stderr
    assert "remedy:" in done.stderr
