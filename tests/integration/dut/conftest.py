import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.errors import MachineError
from plimsoll.host.ledger.janitor import swept_ledger
from plimsoll.host.ledger.ledger import Ledger, ledgers
from tests.integration.dut.namespace_lab import settings_of


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A state directory of its own, on a machine where these labs can be had."""
    try:
        settings_of("linux-bridge").check_machine()
    except MachineError as error:
        pytest.skip(str(error))
    directory = Path(tempfile.mkdtemp(prefix="pl-"))
    monkeypatch.setenv("PLIMSOLL_STATE", str(directory))
    yield directory
    for ledger in ledgers():
        ledger.undo()
    shutil.rmtree(directory)


@pytest.fixture
def ledger(state: Path) -> Iterator[Ledger]:
    with swept_ledger("test") as ledger:
        yield ledger
