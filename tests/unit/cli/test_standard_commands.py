"""rfc2544, rfc9004, probe and latency-at-load on the command line: errors, tables and JSON."""

import json
from pathlib import Path

import pytest

from plimsoll.benchmark.experiment.experiment import load_experiment
from plimsoll.benchmark.session.session import begin
from plimsoll.methods.load_line.result import METHOD as LOAD_LINE
from plimsoll.record.recorder import recording
from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.benchmark.whole_run.slow_tester import slow_tester
from tests.unit.cli.runs_command import exit_code
from tests.worded.says import Says

EXPERIMENT = """\
name: sim
lab: {kind: simulated, model: {kind: fixed-capacity}}
profile:
  streams:
    - {name: load, role: load}
    - {name: probe, role: latency, rate: 1000pps}
trial: {drain: 100ms, warmup: null}
search: {minimum: 10kpps, maximum: 100%}
"""


SINK = """\
lab: {kind: testpmd-memif, forwarding: rxonly}
profile: {streams: [{name: load, role: load, stream_types: [ddos]}]}
search: {strategy: binary, minimum: 1kpps, maximum: 2kpps}
"""

MAXIMUM = ("--maximum", "1Mpps")


@pytest.fixture
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLIMSOLL_STATE", str(tmp_path / "state"))
    path = tmp_path / "sim.yaml"
    path.write_text(EXPERIMENT)
    return path


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        (["test", "rfc2544"], ("plimsoll test rfc2544",)),
        (["test", "rfc9004"], ("plimsoll test rfc9004",)),
        (["probe"], ("probe", "plimsoll probe")),
        (["latency-at-load"], ("latency-at-load", "plimsoll latency-at-load")),
        (
            ["test", "rfc2544", "sim.yaml", "--tests", "troughput"],
            ("troughput", "--tests"),
        ),
        (["test", "rfc2544", "sim.yaml", "--tests", ","], ("--tests",)),
        (
            ["test", "rfc2544", "sim.yaml", "--sizes", "64,63"],
            ("63", "--sizes", "64", "9216"),
        ),
        (["test", "rfc2544", "sim.yaml", "--sizes", ""], ("--sizes",)),
        (
            ["test", "rfc2544", "sim.yaml", "--sizes", "64", "--imix", "simple"],
            ("--imix", "sizes", "--sizes"),
        ),
        (["test", "rfc2544", "sim.yaml", "--imix", "simpel"], ("simpel",)),
        (["test", "rfc2544", "sim.yaml", "--loss", "200%"], ("--loss", "200%")),
        (["test", "rfc2544", "sim.yaml", "--maximum", "fast"], ("fast", "--maximum")),
        (
            ["test", "rfc2544", "sim.yaml", "--reset-command", "ssh 'dut"],
            ("--reset-command",),
        ),
        (["test", "rfc2544", "sim.yaml", "--reset-command", " "], ("--reset-command",)),
        (
            [
                "test",
                "rfc2544",
                "sim.yaml",
                "--quick",
                "--maximum",
                "1Mpps",
                "--tests",
                "frame-loss",
            ],
            ("--maximum",),
        ),
        (
            ["test", "rfc9004", "sim.yaml", "--burst-limit", "31s"],
            ("--burst-limit", "31s", "1ms", "30s"),
        ),
        (["probe", "sim.yaml", "--rate", "10%"], ("--rate", "10%", "probe")),
        (["probe", "sim.yaml", "--duration", "9d"], ("--duration",)),
        (
            ["test", "rfc9004", "sim.yaml", "--quick", "--maximum", "1Mpps"],
            ("--maximum",),
        ),
        (
            ["test", "rfc2544", "sim.yaml", "--tests", "reset", "--reset-command", "true"],
            ("--tests", "reset"),
        ),
        (
            ["probe", "sim.yaml", "--rate", "2Gpps"],
            ("--rate", "2000000000pps", "0.01", "1", "Gpps"),
        ),
        (["probe", "sim.yaml", "--rate", "0.001pps"], ("--rate",)),
        (
            ["latency-at-load", "sim.yaml", "--rate", "1pps", "--loads", "0,0.5,100"],
            ("--loads", "load/0-1", "0.005", "pps"),
        ),
        (
            ["latency-at-load", "sim.yaml", "--rate", "1Gpps", "--loads", "0,50,200"],
            ("--loads", "500", "3,360", "rate", "10"),
        ),
        (
            ["latency-at-load", "sim.yaml", "--loads", "0,x"],
            ("x", "--loads", "0,10,50,90"),
        ),
        (["latency-at-load", "sim.yaml", "--loads", "-5"], ("--loads", "-5")),
        (
            ["latency-at-load", "sim.yaml", "--rate", "1Mpps", "--run", "runs/x"],
            ("--run", "rate"),
        ),
        (
            ["latency-at-load", "sim.yaml", "--run", "."],
            ("plimsoll run",),
        ),
    ],
)
def test_a_mistake_is_reported_with_its_place_and_remedy(
    experiment: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    facts: tuple[str, ...],
    *,
    says: Says,
) -> None:
    assert exit_code(monkeypatch, *words) == 2
    printed = " ".join(capsys.readouterr().err.split())
    assert printed == says("remedy:", *facts)
    assert not (experiment.parent / "runs").exists()


QUICK = ("--quick", "--sizes", "1518", "--tests", "throughput,recovery")


@pytest.fixture
def finished(experiment: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    assert exit_code(monkeypatch, "test", "rfc2544", experiment, *QUICK) == 0
    (directory,) = Path("runs").iterdir()
    return directory


@pytest.mark.parametrize(
    "words",
    [
        ("test rfc2544",),
        ("test rfc9004",),
        ("probe",),
        ("latency-at-load", "--loads", "1kpps"),
        ("soak", "--load", "1kpps", "--duration", "1m"),
    ],
)
def test_what_measures_frames_that_come_back_refuses_a_sink(
    experiment: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    says: Says,
) -> None:
    experiment.write_text(SINK)
    command, *options = words
    assert exit_code(monkeypatch, *command.split(), experiment, *options) == 2
    said = capsys.readouterr().err
    assert said == says("plimsoll", str(command), "plimsoll run")
    assert f"{experiment}:1: lab" in said
    assert not (experiment.parent / "runs").exists()


@pytest.mark.slow
def test_a_quick_run_prints_its_tables_and_says_what_it_leaves_out(
    experiment: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(monkeypatch, "test", "rfc2544", experiment, *QUICK) == 0
    printed = capsys.readouterr().out
    assert "RFC 2544: 812.7 kpps per direction at 1518 B (theoretical maximum" in printed
    assert "final throughput trials of 2s instead of 1m00s" in printed
    assert "System recovery" in printed
    assert "Latency" not in printed
    (directory,) = Path("runs").iterdir()
    page = (directory / "report.html").read_text()
    assert "final throughput trials of 2s instead of 1m00s" in page
    assert "SIMULATED" in page


def test_a_finished_run_that_is_resumed_prints_its_result_again(
    finished: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert exit_code(monkeypatch, "test", "rfc2544", "--resume", finished, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result == json.loads((finished / "result.json").read_text())
    assert (result["method"], result["quick"]) == ("rfc2544", True)


def test_a_resumed_run_keeps_its_options_and_its_kind(
    finished: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], says: Says
) -> None:
    assert exit_code(monkeypatch, "test", "rfc2544", "--resume", finished, "--quick") == 2
    assert capsys.readouterr().err == says("--resume")
    assert exit_code(monkeypatch, "probe", "--resume", finished) == 2
    message = capsys.readouterr().err
    assert message == says("rfc2544", "probe", "plimsoll probe")
    # Its result, which is another method's, is not even read.
    assert exit_code(monkeypatch, "run", "--resume", finished) == 2
    assert capsys.readouterr().err == says("plimsoll run")


def test_a_run_of_which_nothing_was_recorded_is_not_resumed(
    finished: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], says: Says
) -> None:
    (finished / "result.json").unlink()
    (finished / "journal.jsonl").write_text("")
    assert exit_code(monkeypatch, "test", "rfc2544", "--resume", finished) == 2
    message = capsys.readouterr().err
    assert message == says("journal.jsonl")


def test_latency_at_load_that_the_tester_spoiled_is_an_exit_code_of_its_own(
    experiment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow_tester(monkeypatch, 5e9)
    words = ("latency-at-load", experiment, "--quick", "--rate", "100%", "--loads")
    assert exit_code(monkeypatch, *words, "0,40") == 0
    assert exit_code(monkeypatch, *words, "100") == 5
    assert exit_code(monkeypatch, *words, "0,100") == 5


def test_latency_at_more_than_the_line_carries_is_refused_before_a_run(
    experiment: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    says: Says,
) -> None:
    words = ("latency-at-load", experiment, "--quick", "--rate", "100%", "--loads", "0,200")
    assert exit_code(monkeypatch, *words) == 2
    assert capsys.readouterr().err == says("--loads", "29.76", "200")
    assert not (experiment.parent / "runs").exists()


def test_latency_at_load_refuses_a_run_without_a_load_line(
    experiment: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    says: Says,
) -> None:
    plan = load_experiment(experiment)
    directory = RunDirectory.create(experiment.parent / "runs", "sim", plan.normalised())
    with recording(directory) as recorder:
        begin(recorder, LOAD_LINE, plan)
    words = ("latency-at-load", experiment, "--run", directory.path)
    assert exit_code(monkeypatch, *words) == 2
    assert capsys.readouterr().err == says("--run")


def test_latency_at_load_refuses_a_run_of_another_kind(
    finished: Path,
    experiment: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    says: Says,
) -> None:
    assert exit_code(monkeypatch, "latency-at-load", experiment, "--run", finished) == 2
    message = capsys.readouterr().err
    assert message == says("rfc2544", "plimsoll run")


@pytest.mark.parametrize(
    ("capacity", "code"),
    [
        # Less than the minimum, in any case.
        ("9kpps, buffer: 1", 1),
        # Its buffer is still full when the next trial begins, so that no trial is valid.
        ("100pps", 5),
    ],
)
def test_no_throughput_is_the_duts_failure_or_the_testers(
    experiment: Path, monkeypatch: pytest.MonkeyPatch, capacity: str, code: int
) -> None:
    slow = EXPERIMENT.replace("fixed-capacity", f"fixed-capacity, capacity: {capacity}")
    experiment.write_text(slow.replace("100ms", "500ms"))
    words = ("test", "rfc2544", experiment, "--quick", "--sizes", "64", "--tests", "throughput")
    assert exit_code(monkeypatch, *words) == code
