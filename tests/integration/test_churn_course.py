"""The course of `plimsoll churn`: real etcd, API server and streams, controllers that stand in.

tests/integration/cluster/stand_in_controllers.py says what it is that is not real here;
test_churn.py is the same with real controllers and scheduler, where those are built.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from plimsoll.churn.control_plane.programs import find_programs
from plimsoll.errors import MachineError
from plimsoll.host.ledger.ledger import ledgers
from tests.integration.churn_command import killed_and_resumed
from tests.integration.command import ROOT

BUILT = ROOT / "build" / "kube-apiserver"
EXPERIMENT = """\
name: small
cluster: {{kind: own, nodes: 1, programs: {programs}}}
workload: {{namespaces: 2, objects: small, qps: 100, burst: 100}}
churn: {{levels: [0, 100], duration: 4s, cycles: 1, delay: 1s, before: 4s, after: 2s}}
streams: {{networks: {{macvlan: {{kind: macvlan}}}}, pairs: 2, rate_mbps: 20,
  latency_probe: {{pps: 500}}}}
sample: 2s
seed: 1
"""
_PODS = 7
_LONGEST_S = 200

pytestmark = pytest.mark.full


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    try:
        found = find_programs(BUILT, ("etcd", "kube-apiserver"))
    except MachineError as error:
        pytest.skip(str(error))
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, path in found.paths.items():
        (programs / name).symlink_to(path)
    module = f"exec {sys.executable} -m tests.integration.cluster.stand_in_controllers"
    _write_program(programs / "kube-controller-manager", f"export PYTHONPATH={ROOT}\n{module}")
    _write_program(programs / "kube-scheduler", "exec sleep infinity")
    path = tmp_path / "small.yaml"
    path.write_text(EXPERIMENT.format(programs=programs))
    return path


def _write_program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Ledgers of this test's own, of which none is left in the end."""
    with tempfile.TemporaryDirectory(prefix="pl-") as folder:
        monkeypatch.setenv("PLIMSOLL_STATE", folder)
        yield
        assert ledgers() == ()


def test_a_run_is_killed_goes_on_and_ends_in_its_tables(
    tmp_path: Path, experiment: Path, state: None
) -> None:
    _check(*killed_and_resumed(experiment, tmp_path, _LONGEST_S))


def _check(run: Path, result: dict[str, object]) -> None:
    cells = {cell["percent"]: cell for cell in result["cells"]}  # type: ignore[attr-defined]
    assert set(cells) == {0, 100}
    # Made by each of the two sessions.
    assert [each["pods"] for each in result["workloads"]] == [_PODS] * 2  # type: ignore[attr-defined]
    assert cells[0]["phases"] == []
    phases = [(phase["kind"], phase["complete"]) for phase in cells[100]["phases"]]
    assert phases == [("delete", True), ("create", True)]
    for cell in cells.values():
        # Paced at 20 Mbit/s each, which any machine carries; how much it dips is its own affair.
        assert cell["streams"]["reference_bps"] == pytest.approx(40e6, rel=0.1)
        probe = cell["probe"]
        assert sum(count for _, count in probe["histogram"]) == probe["sent"] - probe["lost"] > 0
    pods = {each["kind"]: each["pods"] for each in cells[100]["control_plane"]["readiness"]}
    assert pods == {"all": 2 * _PODS, "server": 8, "client": 4, "dpdk": 2}
    requests = cells[100]["control_plane"]["requests"]
    posts = {each["resource"]: each["count"] for each in requests if each["verb"] == "POST"}
    assert (posts["secrets"], posts["deployments"], posts["networkpolicies"]) == (8, 8, 2)
    # By DuckDB alone: every pod has its row.
    files = f"{run}/metrics/{cells[100]['period']}*.parquet"
    rows = duckdb.execute(
        "SELECT count(*) FROM read_parquet(?) WHERE type = 'readiness-msec'", [files]
    ).fetchall()
    assert rows == [(2 * _PODS,)]
    rows = duckdb.execute(
        "SELECT count(*) FROM read_parquet(?) WHERE source = 'udp-probe' AND type = 'p99-usec'",
        [files],
    ).fetchall()
    # A second each of what is before the churn, and of what is after it.
    assert rows[0][0] >= 6
    assert "UDP latency" in (run / "report.html").read_text()
    assert "Pod readiness" in (run / "report.html").read_text()
    assert not (run / "control-plane").exists()
