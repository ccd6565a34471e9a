"""A state directory of the test's own, with a path short enough for sockets."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(prefix="pl-"))
    monkeypatch.setenv("PLIMSOLL_STATE", str(directory))
    yield directory
    shutil.rmtree(directory)
