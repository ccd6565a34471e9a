"""One rule of exit codes: passed 0, the DUT failed 1, the tester could not tell 5."""

import json
from pathlib import Path

import pytest

from tests.unit.cli.runs_command import exit_code

EXPERIMENT = """\
name: sim
lab: {kind: simulated, model: {kind: MODEL}}
profile:
  streams:
    - {name: load, role: load}
    - {name: probe, role: latency, rate: 1000pps}
trial: {drain: 500ms, warmup: null}
tester: {max_stall: 10ms}
search:
  strategy: binary
  minimum: 100kpps
  maximum: 200kpps
  granularity: 50%
  duration: 1s
"""
# By exit code and verdict: a DUT that carries 100 kpps, one that does not, and a tester whose
# loops are away for longer than the experiment lets them.
MODELS = [
    (0, "pass", "fixed-capacity"),
    (1, "fail", "fixed-capacity, capacity: 50kpps, buffer: 1"),
    (5, "invalid", "stalling-tester, period: 100ms, length: 20ms"),
]


@pytest.fixture
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLIMSOLL_STATE", str(tmp_path / "state"))
    path = tmp_path / "sim.yaml"
    path.write_text(EXPERIMENT)
    return path


@pytest.mark.parametrize(("code", "verdict", "model"), MODELS)
def test_a_trial_and_a_soak(  # noqa: PLR0917 - fixtures and parameters
    experiment: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    code: int,
    verdict: str,
    model: str,
) -> None:
    experiment.write_text(EXPERIMENT.replace("MODEL", model))
    assert exit_code(monkeypatch, "trial", experiment, "--load", "100kpps") == code
    words = ("soak", experiment, "--load", "100kpps", "--duration", "20s", "--window", "10s")
    assert exit_code(monkeypatch, *words) == code
    assert_listed(monkeypatch, capsys, verdict, code, 2)


@pytest.mark.parametrize(("code", "verdict", "model"), MODELS)
def test_a_run_says_who_is_why_there_is_no_load_line(  # noqa: PLR0917 - fixtures and parameters
    experiment: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    code: int,
    verdict: str,
    model: str,
) -> None:
    experiment.write_text(EXPERIMENT.replace("MODEL", model))
    assert exit_code(monkeypatch, "run", experiment) == code
    message = capsys.readouterr().out
    assert ("could not test: " in message) == (verdict == "invalid")
    assert_listed(monkeypatch, capsys, verdict, code, 1)


def assert_listed(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    verdict: str,
    code: int,
    count: int,
) -> None:
    """`runs` has so many runs of this verdict and no others, and shows each."""
    capsys.readouterr()
    assert exit_code(monkeypatch, "runs", "list", "--verdict", verdict, "--json") == 0
    listed = json.loads(capsys.readouterr().out)
    assert [each["verdict"] for each in listed] == [verdict] * count
    assert len(list(Path("runs").iterdir())) == count
    for each in listed:
        assert exit_code(monkeypatch, "runs", "show", each["path"]) == 0
        assert exit_code(monkeypatch, "runs", "show", each["path"], "--exit-code") == code


@pytest.mark.parametrize(("code", "verdict", "model"), [(0, "none", "fixed-capacity"), MODELS[2]])
def test_a_probe_and_latency_at_load_judge_the_tester_alone(  # noqa: PLR0917 - fixtures and parameters
    experiment: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    code: int,
    verdict: str,
    model: str,
) -> None:
    experiment.write_text(EXPERIMENT.replace("MODEL", model))
    assert exit_code(monkeypatch, "probe", experiment, "--quick") == code
    words = ("latency-at-load", experiment, "--quick", "--rate", "100kpps", "--loads", "50")
    assert exit_code(monkeypatch, *words) == code
    assert_listed(monkeypatch, capsys, verdict, code, 2)


@pytest.mark.slow
def test_latency_at_load_whose_search_the_tester_spoiled(
    experiment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = []
    for _, _, model in MODELS:
        experiment.write_text(EXPERIMENT.replace("MODEL", model))
        words = ("latency-at-load", experiment, "--quick", "--loads", "50")
        codes.append(exit_code(monkeypatch, *words))
    assert codes == [0, 1, 5]
