"""`--metrics-port`: live values while a command runs, and nothing left where it cannot listen."""

import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.free_ports import free_port
from tests.unit.cli.runs_command import exit_code
from tests.unit.methods.matrix.matrix_files import write_matrix
from tests.worded.says import Says

EXPERIMENT = """\
lab: {kind: simulated, model: {kind: fixed-capacity, capacity: 50kpps}}
profile: {streams: [{name: load, role: load}, {name: probe, role: latency, rate: 1kpps}]}
trial: {drain: 100ms, warmup: null}
search: {minimum: 10kpps, maximum: 20kpps, duration: 1s, validation: {duration: 2s}}
"""
COMMANDS = [
    ["run", "sim.yaml"],
    ["trial", "sim.yaml", "--load", "10kpps", "--duration", "1s"],
    ["matrix", "matrix.yaml"],
    ["soak", "sim.yaml", "--load", "10kpps", "--duration", "20s", "--window", "10s"],
    ["test", "rfc2544", "sim.yaml", "--quick", "--tests", "throughput", "--sizes", "64"],
    ["test", "rfc9004", "sim.yaml", "--quick", "--sizes", "64"],
    ["probe", "sim.yaml", "--quick"],
    ["latency-at-load", "sim.yaml", "--quick", "--rate", "10kpps"],
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the commands run: an experiment and a matrix, and no runs yet."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sim.yaml").write_text(EXPERIMENT)
    path = write_matrix(tmp_path, {"sets": [{"search.maximum": ["20kpps", "30kpps"]}]})
    path.rename(tmp_path / "matrix.yaml")
    return tmp_path


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that is in use."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield int(other.getsockname()[1])


@pytest.mark.parametrize("words", COMMANDS, ids=[words[0] for words in COMMANDS])
def test_a_port_that_is_taken_leaves_nothing_behind(
    here: Path,
    taken: int,
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    says: Says,
) -> None:
    assert exit_code(monkeypatch, *words, "--metrics-port", taken) == 3
    message = capsys.readouterr().err
    assert message == says("--metrics-port", "127.0.0.1", str(taken))
    assert not (here / "runs").exists()


# Appends the run that is served to a file; the run itself has it done before each trial.
ASK = """\
import sys, urllib.request
with urllib.request.urlopen(sys.argv[1], timeout=60) as answer:
    lines = answer.read().decode().splitlines()
with open(sys.argv[2], "a") as seen:
    seen.writelines(line + chr(10) for line in lines if line.startswith("plimsoll_run{"))
"""


@pytest.fixture
def free() -> int:
    """A port that nobody listens on."""
    return free_port()


def asking(folder: Path, port: int) -> dict[str, Any]:
    """The `trial` section of an experiment that asks what is served."""
    url = f"http://127.0.0.1:{port}/metrics"
    before = [sys.executable, "-c", ASK, url, str(folder / "seen")]
    return {"drain": "100ms", "warmup": None, "before": before}


def test_a_trial_is_served_while_it_goes_on(
    here: Path, free: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = yaml.safe_load(EXPERIMENT) | {"trial": asking(here, free)}
    (here / "asks.yaml").write_text(yaml.safe_dump(experiment))
    words = ("asks.yaml", "--load", "10kpps", "--duration", "1s", "--metrics-port", free)
    assert exit_code(monkeypatch, "trial", *words) == 0
    (run,) = (here / "runs").iterdir()
    assert (here / "seen").read_text() == f'plimsoll_run{{run="{run.name}"}} 1.0\n'


def test_each_sample_of_a_matrix_is_served_while_it_goes_on(
    here: Path, free: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    varied = {"sets": [{"search.maximum": ["20kpps", "30kpps"]}]}
    path = write_matrix(here, varied, trial=asking(here, free))
    assert exit_code(monkeypatch, "matrix", path, "--metrics-port", free) == 0
    (run,) = (here / "runs").iterdir()
    seen = dict.fromkeys((here / "seen").read_text().splitlines())
    assert list(seen) == [
        f'plimsoll_run{{run="{run.name}/iteration-000{number}/sample-1"}} 1.0' for number in (1, 2)
    ]
