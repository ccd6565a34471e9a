"""`plimsoll tune capture`, of the very host that the tests run on."""

import json
import tarfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from plimsoll.cli.main import app
from plimsoll.errors import InputError

runner = CliRunner()


@pytest.fixture(autouse=True)
def _no_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """What this host's commands say takes seconds, and is none of the tests' business."""
    monkeypatch.setenv("PATH", "/nowhere")


def test_a_capture_is_audited_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "own.tar.gz"
    result = runner.invoke(app, ["tune", "capture", "-o", str(path)])
    assert result.exit_code == 0
    assert result.stdout.startswith(f"{path}: ")
    with tarfile.open(path) as archive:
        assert archive.getnames()[0] == "manifest.json"
        names = set(archive.getnames())
    assert "files/proc/cmdline" in names
    assert not [name for name in names if name.endswith(("/environ", "/shadow"))]
    result = runner.invoke(app, ["tune", "audit", "--root", str(path), "--json"])
    document = json.loads(result.stdout)
    assert document["host"] == Path("/proc/sys/kernel/hostname").read_text().strip()


def test_it_is_named_after_host_and_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert runner.invoke(app, ["tune", "capture"]).exit_code == 0
    (made,) = tmp_path.iterdir()
    assert made.name.endswith("Z.tar.gz")


def test_it_never_writes_over_a_file(tmp_path: Path) -> None:
    path = tmp_path / "x.tar.gz"
    path.write_text("mine")
    result = runner.invoke(app, ["tune", "capture", "-o", str(path)])
    assert isinstance(result.exception, InputError)
    assert path.read_text() == "mine"
