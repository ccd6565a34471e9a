"""What tests of commands share."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.cli.runs_command import Plimsoll

_NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture
def handlers() -> Iterator[None]:
    """Signal handlers as they were before: a command sets its own."""
    before = {number: signal.getsignal(number) for number in _NUMBERS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def plimsoll(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    handlers: None,
) -> Plimsoll:
    """In a folder of its own, below which `runs` is still to be made."""
    monkeypatch.chdir(tmp_path)
    return Plimsoll(monkeypatch, capsys)
