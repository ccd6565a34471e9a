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
    shared = Path(tempfile.mkdtemp(prefix="pl-"))
    monkeypatch.setenv("PLIMSOLL_SHARED", str(shared))
    yield directory
    shutil.rmtree(directory)
    shutil.rmtree(shared)


@pytest.fixture(scope="session", autouse=True)
def _own_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing that these tests post is seen by runs of this machine, nor theirs by the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLIMSOLL_SHARED", str(tmp_path_factory.mktemp("shared")))
        yield
