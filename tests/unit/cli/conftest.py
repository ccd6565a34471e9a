"""What tests of commands share."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.cli.runs_command import Plimsoll


@pytest.fixture
def plimsoll(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Plimsoll]:
    """In a folder of its own, below which `runs` is still to be made."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    monkeypatch.chdir(tmp_path)
    yield Plimsoll(monkeypatch, capsys)
    for number, handler in before.items():
        signal.signal(number, handler)
