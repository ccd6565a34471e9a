import shutil
from pathlib import Path

import pytest

from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.export.exported_run import small_run


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that no test touches."""
    return small_run(tmp_path_factory.mktemp("recorded")).path


@pytest.fixture
def run(tmp_path: Path, recorded: Path) -> RunDirectory:
    return RunDirectory.open(shutil.copytree(recorded, tmp_path / recorded.name))
