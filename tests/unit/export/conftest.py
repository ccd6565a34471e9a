import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.export.exported_run import small_run
from tests.unit.export.moto_store import client_of, moto_store


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that no test touches."""
    return small_run(tmp_path_factory.mktemp("recorded")).path


@pytest.fixture
def run(tmp_path: Path, recorded: Path) -> RunDirectory:
    return RunDirectory.open(shutil.copytree(recorded, tmp_path / recorded.name))


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with moto_store() as url:
        yield url


@pytest.fixture
def client(endpoint: str) -> Any:
    """Of a store with the bucket `bench`."""
    client = client_of(endpoint)
    client.create_bucket(Bucket="bench")
    return client
