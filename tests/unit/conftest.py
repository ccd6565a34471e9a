"""A state directory of the test's own, with a path short enough for sockets."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.kept_handlers import kept_handlers


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(prefix="pl-"))
    monkeypatch.setenv("PLIMSOLL_STATE", str(directory))
    shared = Path(tempfile.mkdtemp(prefix="pl-"))
    monkeypatch.setenv("PLIMSOLL_SHARED", str(shared))
    # Of killed processes of other tests nothing is swept here.
    scratch = Path(tempfile.mkdtemp(prefix="pl-"))
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    yield directory
    for each in (directory, shared, scratch):
        shutil.rmtree(each)


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    with kept_handlers():
        yield


@pytest.fixture(scope="session", autouse=True)
def _own_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing that these tests post or keep is seen by runs of this machine, nor the reverse."""
    # In a path short enough for sockets.
    state = tempfile.mkdtemp(prefix="pl-")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLIMSOLL_STATE", state)
        patch.setenv("PLIMSOLL_SHARED", str(tmp_path_factory.mktemp("shared")))
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield
    shutil.rmtree(state)


@pytest.fixture(scope="session", autouse=True)
def _no_waiting_for_disks() -> Iterator[None]:
    """No machine goes down here: os.fsync, of which a run does hundreds, would only take time.

    What is left of a run that is killed or whose disk fails, integration tests say.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _descriptor: None)
        yield
