import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.command import Workplace, workplace
from tests.integration.network import network


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Workplace]:
    with workplace(tmp_path) as made:
        yield made


@pytest.fixture(scope="session")
def why_no_xdp() -> str | None:
    """Why AF_XDP cannot be tested on this machine; None where it can."""
    ask = "from plimsoll.host.xdp_socket import why_no_xdp_socket as why; print(why('pl-a') or '')"
    with network() as place:
        place.veth("pl-a", "pl-b")
        return place.run(sys.executable, "-c", ask).strip() or None
