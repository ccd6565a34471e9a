from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.command import Workplace, workplace


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Workplace]:
    with workplace(tmp_path) as made:
        yield made
