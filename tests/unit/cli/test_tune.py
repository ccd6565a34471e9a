"""`plimsoll tune init` and `plimsoll tune schema`."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from plimsoll.cli import tune
from plimsoll.cli.main import app
from plimsoll.errors import InputError
from plimsoll.tune.intent.load import load_intent, preset_names
from plimsoll.tune.intent.survey import survey_host
from tests.unit.tune.intent.host_tree import tree_of_40

runner = CliRunner()


@pytest.fixture(autouse=True)
def _host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands find a made-up host."""
    tree = tree_of_40(tmp_path / "host", smt=True)
    monkeypatch.setattr(tune, "survey_host", lambda: survey_host(tree.root, {}))


def test_init_writes_an_intent_that_loads(tmp_path: Path) -> None:
    path = tmp_path / "intent.yaml"
    result = runner.invoke(app, ["tune", "init", "-o", str(path)])
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"written: {path}\n"
    assert load_intent(path).cpus.isolated.text == "2-19,22-39"


def test_init_never_writes_over_a_file(tmp_path: Path) -> None:
    path = tmp_path / "intent.yaml"
    path.write_text("mine")
    result = runner.invoke(app, ["tune", "init", "-o", str(path)])
    assert isinstance(result.exception, InputError)
    assert str(result.exception) == (
        f"{path}: cannot be written: File exists (name another file with --output)"
    )
    assert path.read_text() == "mine"


def test_init_prints_what_a_preset_becomes_here() -> None:
    result = runner.invoke(app, ["tune", "init", "--preset", "openshift-deterministic"])
    assert result.exit_code == 0
    assert "name: reghwol\n" in result.stdout
    assert "- nohz_full=2-19,22-39\n" in result.stdout


def test_presets_are_listed_with_what_they_are() -> None:
    result = runner.invoke(app, ["tune", "init", "--list-presets"])
    assert [line.split()[0] for line in result.stdout.splitlines()] == list(preset_names())
    assert "A dataplane inside a virtual machine" in result.stdout


def test_an_unknown_preset_is_an_error() -> None:
    result = runner.invoke(app, ["tune", "init", "--preset", "openshift"])
    assert isinstance(result.exception, InputError)
    assert "no preset or file is 'openshift'" in str(result.exception)


def test_the_schema_is_printed() -> None:
    result = runner.invoke(app, ["tune", "schema"])
    assert json.loads(result.stdout)["title"] == "Intent"
