import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.cluster.control_plane import CannotServe
from tests.integration.cluster.served import ServedCluster, served_cluster
from tests.integration.command import Workplace, workplace
from tests.integration.network import network


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Workplace]:
    with workplace(tmp_path) as made:
        yield made


@pytest.fixture(scope="session")
def why_no_xdp() -> str | None:
    """Why AF_XDP cannot be tested on this machine; None where it can."""
    ask = (
        "from plimsoll.host.ports.xdp_socket import why_no_xdp_socket as why; "
        "print(why('pl-a') or '')"
    )
    with network() as place:
        place.veth("pl-a", "pl-b")
        return place.run(sys.executable, "-c", ask).strip() or None


@pytest.fixture(scope="module")
def kube_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedCluster]:
    """A real API server with OpenShift's kinds and no objects; skipped where there is none."""
    try:
        with served_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
            yield cluster
    except CannotServe as why:
        pytest.skip(str(why))
