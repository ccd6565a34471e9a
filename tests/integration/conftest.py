import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path

import pytest

from plimsoll.host.ledger.ledger import ledgers
from tests.integration.cluster.control_plane import CannotServe
from tests.integration.cluster.served import ServedCluster, served_cluster
from tests.integration.command import Workplace, workplace
from tests.integration.hugepage_reserve import HugepageReserve
from tests.integration.network import network
from tests.integration.turns import turn


@pytest.fixture(scope="module", autouse=True)
def _in_turn(request: pytest.FixtureRequest) -> Iterator[None]:
    """Those of `parallel` poll no CPU, and wait for nobody; workers of one session share them."""
    folder = request.path.relative_to(Path(__file__).parent).parts[0]
    if folder == "parallel":
        yield
        return
    # By default a run's loops poll these; the tests in the other folders take what there is.
    if folder not in ("dut", "engine") and not {0, 1} <= os.sched_getaffinity(0):
        pytest.skip("this process may not run on the CPUs 0 and 1")
    with nullcontext() if hasattr(request.config, "workerinput") else turn():
        yield


@pytest.fixture(scope="module")
def live_in_turn() -> Iterator[None]:
    """Of modules with live traffic, one at a time, also of the workers of one session."""
    with turn(live=True):
        yield


@pytest.fixture(scope="module", autouse=True)
def _own_state() -> Iterator[None]:
    """Ledgers, calibrations and histories of these tests alone, in a path short enough for sockets.

    Nothing stands of what a test left.
    """
    directory = Path(tempfile.mkdtemp(prefix="pl-"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLIMSOLL_STATE", str(directory / "s"))
        patch.setenv("XDG_STATE_HOME", str(directory / "home"))
        yield
        for ledger in ledgers():
            ledger.undo()
    shutil.rmtree(directory)


# Of hugepages, for each worker: the largest lab here has a switch, guests and an engine.
_MB_PER_WORKER = 1536
# Behind polling loops, which have -20, but far before ordinary programs. Loops of several workers
# poll all CPUs nearly always; by the kernel's weights a test that is to stop them, or that reads
# what they say, would get 1 % of a CPU, and with this gets 10 %.
_NICENESS = -10
_AUTOGROUP = Path("/proc/self/autogroup")


def pytest_configure(config: pytest.Config) -> None:
    """Before several workers begin, reserve what their labs need: none of them changes the pool."""
    workers = config.getoption("numprocesses", 0)
    if workers and not hasattr(config, "workerinput"):
        reserve = HugepageReserve(workers * _MB_PER_WORKER)
        config.add_cleanup(reserve.give_back)
        _come_before_ordinary_programs(config)


def _come_before_ordinary_programs(config: pytest.Config) -> None:
    """This session's processes, as long as it lasts, where that is allowed.

    The session that the kernel began with is in no group (its file is empty); there, and where
    the kernel makes none, the workers inherit this process' own niceness.
    """
    with suppress(OSError):
        group = _AUTOGROUP.read_text().split() if _AUTOGROUP.exists() else []
        if group:
            _AUTOGROUP.write_text(str(_NICENESS))
            config.add_cleanup(partial(_AUTOGROUP.write_text, group[-1]))
        else:
            os.setpriority(os.PRIO_PROCESS, 0, _NICENESS)


@pytest.fixture(scope="session", autouse=True)
def _own_claims(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Each of several workers has its own claims: the CPUs are shared, and no lab refuses that."""
    if not hasattr(request.config, "workerinput"):
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLIMSOLL_SHARED", str(tmp_path_factory.mktemp("shared")))
        yield


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
