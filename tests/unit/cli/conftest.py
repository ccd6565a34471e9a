"""What tests of commands share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.cli.runs_command import Plimsoll, kept_handlers


@pytest.fixture
def handlers() -> Iterator[None]:
    """Signal handlers as they were before."""
    with kept_handlers():
        yield


@pytest.fixture
def plimsoll(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Plimsoll]:
    """In a folder of its own, below which `runs` is still to be made."""
    monkeypatch.chdir(tmp_path)
    # Not by the fixture: other folders' tests take this one alone.
    with kept_handlers():
        yield Plimsoll(monkeypatch, capsys)
