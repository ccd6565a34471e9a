"""`plimsoll tune init` and `plimsoll tune schema`."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from plimsoll.cli.main import app
from plimsoll.cli.tune.capture import needed_files
from plimsoll.errors import InputError
from plimsoll.terminal.options import bmc_options
from plimsoll.tune.host.capture.capture import write_capture
from plimsoll.tune.host.capture.collect import collect
from plimsoll.tune.host.view.live_host import LiveHost
from plimsoll.tune.intent.load import intent_schema, load_intent, preset_names
from tests.unit.tune.intent.host_tree import tree_of_40
from tests.worded.says import Says, passage

runner = CliRunner()


@pytest.fixture(autouse=True)
def _host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands find a made-up host."""
    tree = tree_of_40(tmp_path / "host", smt=True)
    monkeypatch.setattr(bmc_options, "LiveHost", lambda: LiveHost(tree.root))


def test_init_writes_an_intent_that_loads(tmp_path: Path) -> None:
    path = tmp_path / "intent.yaml"
    result = runner.invoke(app, ["tune", "init", "-o", str(path)])
    assert (result.exit_code, result.stdout) == (0, "")
    schema = tmp_path / "tuning-intent.schema.json"
    assert result.stderr == f"written: {path}\nwritten: {schema}\n"
    assert path.read_text().startswith(f"# yaml-language-server: $schema={schema.name}\n")
    assert schema.read_text() == intent_schema()
    assert load_intent(path).cpus.isolated.text == "2-19,22-39"


def test_init_never_writes_over_a_file(tmp_path: Path, says: Says) -> None:
    path = tmp_path / "intent.yaml"
    path.write_text("mine")
    result = runner.invoke(app, ["tune", "init", "-o", str(path)])
    assert isinstance(result.exception, InputError)
    assert str(result.exception) == says(str(path), "--output")
    assert path.read_text() == "mine"


def test_two_intents_share_one_schema(tmp_path: Path) -> None:
    runner.invoke(app, ["tune", "init", "-o", str(tmp_path / "one.yaml")])
    result = runner.invoke(app, ["tune", "init", "-o", str(tmp_path / "two.yaml")])
    assert (result.exit_code, result.stderr) == (0, f"written: {tmp_path / 'two.yaml'}\n")


@pytest.mark.parametrize("kind", ["file", "folder", "dangling link"])
def test_init_leaves_what_stands_in_the_schemas_place(
    tmp_path: Path, kind: str, says: Says
) -> None:
    schema = tmp_path / "tuning-intent.schema.json"
    if kind == "file":
        schema.write_text("an older version's")
    elif kind == "folder":
        schema.mkdir()
    else:
        schema.symlink_to(tmp_path / "elsewhere")
    result = runner.invoke(app, ["tune", "init", "-o", str(tmp_path / "intent.yaml")])
    assert result.exit_code == 0
    assert result.stderr == says(str(schema), "tune", "schema", "plimsoll tune schema")
    assert not (tmp_path / "elsewhere").exists()
    assert kind != "file" or schema.read_text() == "an older version's"


def test_init_without_a_file_names_no_schema() -> None:
    result = runner.invoke(app, ["tune", "init"])
    assert result.stdout.startswith("# An intent proposed from")


def test_init_from_a_capture(tmp_path: Path, says: Says) -> None:
    capture = tmp_path / "worker.tar.gz"
    tree = tree_of_40(tmp_path / "captured", smt=False)
    now = datetime(2026, 11, 22, tzinfo=UTC)
    write_capture(collect(LiveHost(tree.root), needed_files(), now), capture)
    result = runner.invoke(app, ["tune", "init", "--root", str(capture)])
    assert result.exit_code == 0
    assert "isolated: 2-39\n" in result.stdout
    assert passage(result.stdout.replace("\n# ", " "), str(capture)) == says(str(capture))


def test_init_asks_one_host(tmp_path: Path, says: Says) -> None:
    words = ["tune", "init", "--root", str(tmp_path), "--host", "ssh://node-1"]
    error = runner.invoke(app, words).exception
    assert isinstance(error, InputError)
    assert str(error) == says("--host", "--root")


def test_init_prints_what_a_preset_becomes_here() -> None:
    result = runner.invoke(app, ["tune", "init", "--preset", "openshift-deterministic"])
    assert result.exit_code == 0
    assert "name: reghwol\n" in result.stdout
    assert "- nohz_full=2-19,22-39\n" in result.stdout


def test_presets_are_listed_with_what_they_are(says: Says) -> None:
    result = runner.invoke(app, ["tune", "init", "--list-presets"])
    assert [line.split()[0] for line in result.stdout.splitlines()] == list(preset_names())
    assert result.stdout == says("OpenShift", "2")


def test_an_unknown_preset_is_an_error(says: Says) -> None:
    result = runner.invoke(app, ["tune", "init", "--preset", "openshift"])
    assert isinstance(result.exception, InputError)
    assert str(result.exception) == says("openshift", "preset")


def test_the_schema_is_printed() -> None:
    result = runner.invoke(app, ["tune", "schema"])
    assert json.loads(result.stdout)["title"] == "Intent"
