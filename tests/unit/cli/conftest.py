"""What tests of commands share."""

from pathlib import Path

import pytest

from tests.unit.cli.runs_command import Plimsoll


@pytest.fixture
def plimsoll(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Plimsoll:
    """In a folder of its own, below which `runs` is still to be made."""
    monkeypatch.chdir(tmp_path)
    return Plimsoll(monkeypatch, capsys)
