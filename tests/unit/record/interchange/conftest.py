from pathlib import Path

import pytest

from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.record.interchange.exported_run import small_run


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return small_run(tmp_path)
