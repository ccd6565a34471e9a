from pathlib import Path

import pytest

from plimsoll.analysis.run import Run
from plimsoll.analysis.runs import open_run
from tests.unit.analysis.handmade import finished_run, killed_run


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = finished_run(tmp_path_factory.mktemp("runs"))
    return open_run(run.path, ".")


@pytest.fixture(scope="session")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = killed_run(tmp_path_factory.mktemp("runs"))
    return open_run(run.path, ".")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return tmp_path / "runs"
