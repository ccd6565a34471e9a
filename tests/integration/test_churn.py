"""`plimsoll churn` on a real control plane: etcd, API server, controllers and scheduler.

The nodes are the product's fake ones; the streams cross a veth cable and macvlan between network
namespaces. Skipped where the programs are not built (`make control-plane`).
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from plimsoll.churn.control_plane.programs import find_programs
from plimsoll.errors import MachineError
from plimsoll.host.ledger.ledger import ledgers
from tests.integration.churn_command import churn, killed_and_resumed
from tests.integration.command import ROOT

BUILT = ROOT / "build" / "kube-apiserver"
EXPERIMENT = f"""\
name: small
cluster: {{kind: own, nodes: 2, programs: {BUILT}}}
workload: {{namespaces: 2, objects: small, qps: 50, burst: 50}}
churn: {{levels: [0, 100], duration: 4s, cycles: 1, delay: 1s, before: 4s, after: 2s}}
streams:
  networks: {{macvlan: {{kind: macvlan}}}}
  pairs: 2
  rate_mbps: 20
sample: 2s
seed: 1
"""
_PODS = 7
_LONGEST_S = 900

pytestmark = pytest.mark.full


@pytest.fixture(autouse=True)
def _programs() -> None:
    try:
        find_programs(BUILT)
    except MachineError as error:
        pytest.skip(str(error))


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(EXPERIMENT)
    return path


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Ledgers of this test's own, of which none is left in the end."""
    with tempfile.TemporaryDirectory(prefix="pl-") as folder:
        monkeypatch.setenv("PLIMSOLL_STATE", folder)
        yield
        assert ledgers() == ()


def test_networks_and_levels_end_in_tables(tmp_path: Path, experiment: Path, state: None) -> None:
    process = churn(experiment, "--runs", tmp_path / "runs", "--json")
    output, _ = process.communicate(timeout=_LONGEST_S)
    assert process.returncode == 0
    result = json.loads(output)
    (run,) = (tmp_path / "runs").iterdir()
    (workload,) = result["workloads"]
    # What the driver makes of SMALL: 4 secrets, 4 configmaps, a policy, 2 services, 4 deployments.
    assert (workload["objects"], workload["pods"]) == (15, _PODS)
    cells = {cell["percent"]: cell for cell in result["cells"]}
    assert set(cells) == {0, 100}
    assert cells[0]["phases"] == []
    assert [phase["kind"] for phase in cells[100]["phases"]] == ["delete", "create"]
    assert all(phase["complete"] for phase in cells[100]["phases"])
    for cell in cells.values():
        # Paced at 20 Mbit/s each, which any machine carries; how much it dips is its own affair.
        assert cell["streams"]["reference_bps"] == pytest.approx(40e6, rel=0.1)
        etcd = {each["name"]: each["count"] for each in cell["control_plane"]["etcd"]}
        assert etcd["backend-commit"] > 0
    pods = {each["kind"]: each["pods"] for each in cells[100]["control_plane"]["readiness"]}
    assert pods == {"all": 2 * _PODS, "server": 8, "client": 4, "dpdk": 2}
    _check_requests(cells[100])
    _check_metrics(run, cells[100])
    assert not (run / "control-plane").exists()
    assert (run / "report.html").exists()


def _check_requests(cell: dict[str, object]) -> None:
    """Every object that was made anew was posted once, and so was every pod, by controllers."""
    figures = cell["control_plane"]["requests"]  # type: ignore[index]
    posts = {each["resource"]: each["count"] for each in figures if each["verb"] == "POST"}
    assert posts["secrets"] == 2 * 4
    assert posts["deployments"] == 2 * 4
    assert posts["networkpolicies"] == 2
    assert posts["pods"] >= 2 * _PODS


def _check_metrics(run: Path, cell: dict[str, object]) -> None:
    """By DuckDB alone: each pod has its row, and the pairs' rates are those of the result."""
    files = f"{run}/metrics/{cell['period']}*.parquet"
    rows = duckdb.sql(
        "SELECT type, count(*), max(value) FROM read_parquet($files) "
        "WHERE source = 'kube-pods' GROUP BY type",
        params={"files": files},
    ).fetchall()
    found = {kind: (count, longest) for kind, count, longest in rows}
    assert found["readiness-msec"][0] == found["ready-sec"][0] == 2 * _PODS
    # Whole seconds, from stamps that are cut off, against milliseconds.
    assert abs(found["ready-sec"][1] - found["readiness-msec"][1] / 1e3) <= 2


def test_a_kill_leaves_nothing_and_the_run_goes_on(
    tmp_path: Path, experiment: Path, state: None
) -> None:
    _, result = killed_and_resumed(experiment, tmp_path, _LONGEST_S)
    assert len(result["cells"]) == 2
    assert len(result["workloads"]) == 2
    assert len({cell["period"] for cell in result["cells"]}) == 2
