"""`plimsoll churn` between real pods: kubelet, containerd, Multus, and iperf3 in its own image.

The pods that churn are real as well, so that their readiness is a kubelet's. There are two nodes,
each with a network of its own, and every stream crosses the cable between them. Opt-in:
`make kubelet pod-image`, and `make multus` for attached networks, as root. Else it is skipped, and
says what is missing.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from plimsoll.host.ledger.ledger import ledgers
from plimsoll.record.run.journal import read_journal
from tests.integration.cluster.addon import crds_of, find_addon
from tests.integration.cluster.control_plane import CannotServe
from tests.integration.cluster.node.first_process import OWNER
from tests.integration.cluster.node.node import IMAGE, NAMESPACE, Node, real_node
from tests.integration.cluster.node.settings import INTERFACE, MULTUS, PAUSE_IMAGE
from tests.integration.command import ROOT, until

pytestmark = pytest.mark.full
# Where the nodes' own network is allowed.
STREAMS = "streams"
_LONGEST_S = 600
_PAIRS = 2
_SMALL = {
    **dict.fromkeys(("secrets", "config_maps", "services"), 1),
    **dict.fromkeys(("network_policies", "sriov_networks", "load_balancers", "routes"), 0),
    "server": {"deployments": 1, "replicas": 2},
    "client": {"deployments": 1, "replicas": 1},
    "dpdk": {"deployments": 0},
}


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    try:
        with real_node(tmp_path_factory.mktemp("node"), nodes=2) as found:
            labels = {"pod-security.kubernetes.io/enforce": "privileged"}
            namespace = {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": STREAMS, "labels": labels},
            }
            found.as_owner(lambda owner: owner.apply(namespace))
            yield found
    except CannotServe as why:
        pytest.skip(str(why))


class Laptop:
    """Where churn is started, by one who may do everything."""

    def __init__(self, node: Node, folder: Path) -> None:
        self._node = node
        self.folder = folder

    def start(self, *words: str | Path) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "plimsoll.cli", "churn", *map(str, words)]
        return subprocess.Popen(
            [*self._node.enter, *command],
            cwd=ROOT,
            env={**os.environ, "KUBECONFIG": str(self._node.folder / OWNER)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str | Path) -> tuple[int, str, str]:
        process = self.start(*words)
        output, errors = process.communicate(timeout=_LONGEST_S)
        return process.returncode, output, errors

    def experiment(self, networks: dict[str, Any], namespace: str = STREAMS, **more: Any) -> Path:
        written = {
            "name": "pods",
            "cluster": {"kind": "kubeconfig"},
            "workload": {
                **{"namespaces": 2, "objects": _SMALL, "qps": 50, "burst": 50},
                "image": PAUSE_IMAGE,
            },
            "churn": {
                **{"levels": [0, 100], "duration": "10s", "cycles": 1, "delay": "1s"},
                **{"before": "4s", "after": "2s"},
            },
            "streams": {
                "networks": networks,
                "pairs": _PAIRS,
                "rate_mbps": 20,
                "latency_probe": {"pps": 200},
                "pods": {"namespace": namespace, "image": IMAGE, "cpu": "100m"},
            },
            "sample": "2s",
            "seed": 1,
            **more,
        }
        path = self.folder / "pods.yaml"
        path.write_text(yaml.safe_dump(written))
        return path

    @property
    def runs(self) -> Path:
        return self.folder / "runs"

    def only_run(self) -> Path:
        (run,) = self.runs.iterdir()
        return run

    def assert_nothing_is_left(self) -> None:
        def left() -> list[str]:
            return self._node.as_owner(
                lambda owner: [
                    *owner.names("v1", "Pod", STREAMS),
                    *owner.names("v1", "Pod", NAMESPACE),
                    *(
                        name
                        for name in owner.names("v1", "Namespace", STREAMS)
                        if name.startswith("plimsoll-")
                    ),
                ]
            )

        until(lambda: not left(), "pods and namespaces to be gone", 120)
        assert ledgers() == ()


@pytest.fixture
def laptop(node: Node, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Laptop]:
    with tempfile.TemporaryDirectory(prefix="pl-") as state:
        monkeypatch.setenv("PLIMSOLL_STATE", state)
        yield Laptop(node, tmp_path)


def assert_carried(run: Path, result: dict[str, Any], networks: set[str]) -> None:
    """Every cell has streams of the pace at most, each pair's by its own samples in the record."""
    cells = {(cell["network"], cell["percent"]): cell for cell in result["cells"]}
    assert set(cells) == {(name, percent) for name in networks for percent in (0, 100)}
    for (_, percent), cell in cells.items():
        streams = cell["streams"]
        assert streams["pairs"] == _PAIRS
        assert [sorted(pair) for pair in streams["nodes"]] == [["node-1", "node-2"]] * _PAIRS
        # All have this machine's clock, and it is held against them nevertheless.
        assert streams["clock_error_s"] > 0
        assert 0 < streams["reference_bps"] < 1.1 * _PAIRS * 20e6
        assert len(streams["pairs_mean_bps"]) == _PAIRS
        assert all(bps > 0 for bps in streams["pairs_mean_bps"])
        probe = cell["probe"]
        assert probe["round_trip"]
        assert 0 < probe["p50_us"] <= probe["max_us"]
        assert probe["sent"] > 200
        assert [each["kind"] for each in cell["phases"]] == ["delete", "create"] * (percent > 0)
        metrics = duckdb.read_parquet(f"{run}/metrics/{cell['period']}*.parquet")
        rates = metrics.filter("source = 'iperf3' and type = 'rx-bps'").fetchall()
        assert len(rates) >= _PAIRS * 60
    churned = next(cell for (_, percent), cell in cells.items() if percent)
    assert {each["kind"] for each in churned["control_plane"]["readiness"]} >= {"server", "client"}


def test_streams_between_pods_and_between_nodes(laptop: Laptop) -> None:
    networks = {"pods": {"kind": "pod-network"}, "host": {"kind": "host-network"}}
    code, output, errors = laptop.run(laptop.experiment(networks), "--runs", laptop.runs, "--json")
    assert code == 0, errors[-4000:]
    run = laptop.only_run()
    assert_carried(run, json.loads(output), set(networks))
    assert (run / "report.html").is_file()
    laptop.assert_nothing_is_left()


def test_a_killed_run_leaves_no_pod_and_goes_on(laptop: Laptop) -> None:
    networks = {"pods": {"kind": "pod-network"}}
    process = laptop.start(laptop.experiment(networks), "--runs", laptop.runs, "--json")

    def begun() -> bool:
        assert process.poll() is None, process.communicate()
        journals = list(laptop.runs.glob("*/journal.jsonl"))
        return bool(journals) and bool(read_journal(journals[0]).of_kind("churn-cell"))

    until(begun, "a cell", _LONGEST_S)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    until(lambda: ledgers() == (), "the janitor to have done its work", 120)
    laptop.assert_nothing_is_left()
    run = laptop.only_run()
    code, output, errors = laptop.run("--resume", run, "--json")
    assert code == 0, errors[-4000:]
    assert_carried(run, json.loads(output), set(networks))
    laptop.assert_nothing_is_left()


def test_a_namespace_that_forbids_the_nodes_network_says_so(laptop: Laptop) -> None:
    path = laptop.experiment({"host": {"kind": "host-network"}}, NAMESPACE)
    code, _, errors = laptop.run(path, "--runs", laptop.runs)
    assert code == 3, errors[-4000:]
    assert "violates PodSecurity" in " ".join(errors.split())
    laptop.assert_nothing_is_left()


def test_streams_over_an_attached_network(laptop: Laptop, node: Node) -> None:
    """Macvlan by Multus, as the article has it."""
    try:
        find_addon(MULTUS)
    except CannotServe as why:
        pytest.skip(str(why))
    addresses = {
        "type": "host-local",
        "subnet": "10.79.0.0/24",
        "dataDir": str(node.folder / "leases"),
    }
    macvlan = {"type": "macvlan", "master": INTERFACE, "mode": "bridge", "ipam": addresses}
    attachment = {
        "apiVersion": "k8s.cni.cncf.io/v1",
        "kind": "NetworkAttachmentDefinition",
        "metadata": {"name": "wire", "namespace": STREAMS},
        "spec": {"config": json.dumps({"cniVersion": "0.4.0", "name": "wire", **macvlan})},
    }
    node.as_owner(lambda owner: owner.install(crds_of(MULTUS)))
    node.as_owner(lambda owner: owner.apply(attachment))
    networks = {"macvlan": {"kind": "attachment", "attachment": "wire"}}
    code, output, errors = laptop.run(laptop.experiment(networks), "--runs", laptop.runs, "--json")
    assert code == 0, errors[-4000:]
    assert_carried(laptop.only_run(), json.loads(output), set(networks))
    laptop.assert_nothing_is_left()
