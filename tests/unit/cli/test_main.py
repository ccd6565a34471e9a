"""The command line's surface: help, exit codes, and errors as one message with a remedy."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from plimsoll.benchmark.experiment.experiment import load_experiment
from plimsoll.benchmark.session.session import begin
from plimsoll.cli.main import app, command_names
from plimsoll.methods.load_line.result import METHOD as LOAD_LINE
from plimsoll.methods.trial.result import METHOD as TRIAL
from plimsoll.record.methods.method import Method
from plimsoll.record.recorder import recording
from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.cli.runs_command import exit_code
from tests.worded.says import Says

EXAMPLES = Path(__file__).parents[3] / "examples"
LOOPBACK = """\
lab: {kind: loopback}
profile: {streams: [{name: load, role: load}]}
search: {minimum: 1kpps, maximum: 2kpps}
"""


def callable_commands(command: Any, words: str) -> Iterator[tuple[str, Any]]:
    """Every command that does something by itself, groups that do not left out."""
    names = command.list_commands(None) if hasattr(command, "list_commands") else ()
    if not names or command.invoke_without_command:
        yield words, command
    for name in names:
        yield from callable_commands(command.get_command(None, name), f"{words} {name}")


def names_command(examples: str, words: str) -> bool:
    return re.search(rf"{re.escape(words)}(?![\w-])", examples) is not None


def test_every_command_has_an_example_in_its_help() -> None:
    found = dict(callable_commands(get_command(app), "plimsoll"))
    assert found.keys() >= {"plimsoll run", "plimsoll ports", "plimsoll lab up"}
    assert [words for words, each in found.items() if not names_command(each.epilog, words)] == []


def test_every_command_has_an_example_in_the_main_help(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(monkeypatch, "--help") == 0
    examples = capsys.readouterr().out.partition("Examples:")[2]
    shown = ["plimsoll lab list", "plimsoll lab up", "plimsoll lab down"]
    shown += [f"plimsoll {name}" for name in command_names()]
    assert [words for words in shown if not names_command(examples, words)] == []


@pytest.mark.parametrize(
    ("words", "code", "facts"),
    [
        (["run"], 2, ()),
        (["run", "gone.yaml"], 2, ("gone.yaml",)),
        (["run", EXAMPLES / "demo.yaml", "--validation", "soon"], 2, ("--validation", "3s")),
        (["run", "--resume", "/", "--validation", "1h"], 2, ("--validation",)),
        (["run", "--resume", "/"], 2, ()),
        (
            ["run", EXAMPLES / "demo.yaml", "--resume", "/"],
            2,
            ("plimsoll run", "plimsoll run --resume", "examples/demo.yaml"),
        ),
        (["trial", EXAMPLES / "demo.yaml", "--load", "0pps"], 2, ("--load",)),
        (["trial", EXAMPLES / "demo.yaml", "--load", "9 parsecs"], 2, ("--load",)),
        (["trial", EXAMPLES / "demo.yaml", "--load", "-1kpps"], 2, ("--load",)),
        (["report", "/nowhere"], 2, ("/nowhere",)),
        (["report", "/"], 2, ()),
        (["calibrate", "--cpus", "zero"], 2, ("--cpus",)),
        (["calibrate", "--cpus", "8000"], 2, ("--cpus", "8000")),
        (["calibrate", "--ports", "net_null0"], 2, ("--ports",)),
        (
            ["calibrate", "--ports", "netdev:", "--ports", "netdev:eth1"],
            *(2, ("netdev:", "--ports", "netdev:NAME")),
        ),
        (
            ["calibrate", "--ports", "netdev:pl-none0", "--ports", "netdev:pl-none1"],
            *(2, ("pl-none0", "--ports", "netdev:pl-none0")),
        ),
        (
            ["calibrate", "--ports", "netdev:eth1", "--ports", "netdev:eth1"],
            *(2, ("--ports", "eth1")),
        ),
        (
            ["trial", "loopback.yaml", "--load", "50%"],
            *(2, ("--load",)),
        ),
        (["trial", "loopback.yaml", "--load", "1e9Gpps"], 2, ("--load",)),
        (["run", "upside-down.yaml"], 2, ("search.minimum",)),
        (["calibrate", "--profile", "gone.yaml"], 2, ("gone.yaml",)),
        (["lab", "up", "spaceship"], 2, ("spaceship",)),
        (["lab", "up", "external"], 2, ("external", "--experiment")),
        (["lab", "up", "loopback"], 2, ()),
    ],
)
def test_an_error_is_a_message_with_place_and_remedy(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    *,
    words: list[object],
    code: int,
    facts: tuple[str, ...],
    says: Says,
) -> None:
    monkeypatch.setenv("PLIMSOLL_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    Path("loopback.yaml").write_text(LOOPBACK)
    Path("upside-down.yaml").write_text(LOOPBACK.replace("1kpps", "3kpps"))
    assert exit_code(monkeypatch, *words) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert " ".join(captured.err.split()) == says(*facts)
    assert "Traceback" not in captured.err
    assert not (tmp_path / "runs").exists()


def test_the_version_is_the_packages(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(monkeypatch, "--version") == 0
    assert capsys.readouterr().out == "plimsoll 0.1.0\n"


def begun_run(tmp_path: Path, method: Method[Any]) -> RunDirectory:
    """A run of `method` on the loopback lab that ended before its first trial."""
    path = tmp_path / "loopback.yaml"
    path.write_text(LOOPBACK)
    experiment = load_experiment(path)
    directory = RunDirectory.create(tmp_path / "runs", "loopback", experiment.normalised())
    with recording(directory) as recorder:
        begin(recorder, method, experiment)
    return directory


def test_a_run_of_another_kind_is_not_said_to_be_resumable(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, says: Says
) -> None:
    """What `plimsoll trial` has made, with or without finished trials."""
    directory = begun_run(tmp_path, TRIAL)
    assert exit_code(monkeypatch, "run", "--resume", directory.path) == 2
    said = capsys.readouterr().err
    assert said == says("plimsoll run")
    assert "run:" not in said
    assert "resume with" not in said


def test_an_edited_experiment_does_not_go_on_with_a_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, says: Says
) -> None:
    directory = begun_run(tmp_path, LOAD_LINE)
    edited = yaml.safe_load(directory.experiment.read_text())
    edited["criteria"][0]["at_most"] = "50%"
    directory.experiment.write_text(yaml.safe_dump(edited))
    assert exit_code(monkeypatch, "run", "--resume", directory.path) == 2
    said = capsys.readouterr().err
    assert said == says()
    assert str(directory.experiment) in said


def test_a_full_disk_behind_standard_output_is_one_message(tmp_path: Path, says: Says) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "plimsoll.cli", "simulate", "--list"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(EXAMPLES.parent)},
        )
    assert done.returncode == 3
    assert done.stderr.splitlines() == [
        says(),
        says(),
    ]


def test_a_report_is_requested_by_id_as_everything_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert exit_code(monkeypatch, "simulate", "fixed-capacity", "--runs", "kept") == 0
    capsys.readouterr()
    options = ("--runs", "kept", "--no-charts", "--no-tables")
    assert exit_code(monkeypatch, "report", "last", *options) == 0
    (run,) = Path("kept").iterdir()
    assert capsys.readouterr().out.split() == [str(run / "report.html")]
