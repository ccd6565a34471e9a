from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.engine.requests import open_request
from tests.integration.engine.session import EngineSession


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[EngineSession]:
    """A fresh engine, its ports not open."""
    with EngineSession(tmp_path) as session:
        yield session


@pytest.fixture(scope="module")
def standing_loopback(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineSession]:
    """An engine for several trials: two ports, each of which receives what it sends."""
    with EngineSession(tmp_path_factory.mktemp("loopback")) as session:
        session.ask(open_request("net_ring0", "net_ring1"))
        yield session
        session.finish()


@pytest.fixture
def loopback(standing_loopback: EngineSession) -> EngineSession:
    """The standing engine, its record of messages empty."""
    standing_loopback.messages.clear()
    return standing_loopback
