"""The jobs of matrices in a queue of a real Kueue, which has as many test beds as its quota.

There is no controller of jobs: their pods are not made, and a test says when a job has ended.
Skipped where there is no Kueue or no API server; `make kueue kube-apiserver` builds them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from plimsoll.benchmark.experiment.experiment import load_experiment
from plimsoll.cluster.pods.cluster_client import ClusterClient, ClusterPlace
from plimsoll.cluster.pods.manifests import owner_manifest
from plimsoll.cluster.pods.pod_plan import plan_pods
from plimsoll.methods.matrix.jobs import job_manifest
from tests.integration.cluster.control_plane import (
    CannotServe,
    control_plane,
    find_parts,
)
from tests.integration.cluster.kueue import VERSION, kueue, one_queue
from tests.integration.cluster.owner import Owner
from tests.integration.command import QUICK, until

pytestmark = pytest.mark.full
NAMESPACE, QUEUE = "bench", "benches"
FIRST, SECOND = "plimsoll-aaaaaaaaaa", "plimsoll-bbbbbbbbbb"
# As its controller says of a job of which all five indexes have succeeded.
_NOW = "2026-01-01T00:00:00Z"
_ENDED = {
    "startTime": _NOW,
    "completionTime": _NOW,
    "succeeded": 5,
    "completedIndexes": "0-4",
    "conditions": [
        {"type": each, "status": "True", "lastProbeTime": _NOW, "lastTransitionTime": _NOW}
        for each in ("SuccessCriteriaMet", "Complete")
    ],
}
# Of the pod of a sample: a CPU for each of two loops and one more.
CPUS = 3


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Owner]:
    folder = tmp_path_factory.mktemp("plane")
    config = folder / "kubeconfig"
    try:
        with control_plane(find_parts(), folder) as plane:
            config.write_text(plane.owners_kubeconfig())
            found = Owner(config)
            with kueue(plane, found, tmp_path_factory.mktemp("kueue")):
                yield found
    except CannotServe as why:
        pytest.skip(str(why))


@pytest.fixture
def bench(owner: Owner, tmp_path_factory: pytest.TempPathFactory) -> ClusterClient:
    found = list(tmp_path_factory.getbasetemp().glob("plane*/kubeconfig"))
    return ClusterClient.connect(ClusterPlace(None, NAMESPACE), str(found[-1]))


def job_of(bench: ClusterClient, name: str, folder: Path, count: int) -> Mapping[str, Any]:
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(QUICK))
    plan = plan_pods(load_experiment(path), "registry.lab/plimsoll", hugepages=False)
    made_by = bench.create(owner_manifest(name, f"run-{name}", "name: quick\n"))
    store = ("s3://bench/x",)
    manifest = job_manifest(
        name, f"run-{name}", plan, made_by, count=count, store=store, secret=None, queue=QUEUE
    )
    return bench.create(manifest)


def spec_of(bench: ClusterClient, name: str) -> Mapping[str, Any]:
    found = bench.read("Job", name)
    assert found is not None
    spec: Mapping[str, Any] = found["spec"]
    return spec


def test_as_many_samples_run_as_there_are_test_beds(
    owner: Owner, bench: ClusterClient, tmp_path: Path
) -> None:
    owner.apply_all(one_queue(QUEUE, NAMESPACE, {"cpu": str(2 * CPUS), "memory": "1Ti"}))
    assert job_of(bench, FIRST, tmp_path, 5)["spec"]["suspend"] is True
    until(lambda: not spec_of(bench, FIRST)["suspend"], "Kueue to let it begin")
    begun = spec_of(bench, FIRST)
    assert (begun["parallelism"], begun["completions"]) == (2, 5)
    # The other one's turn comes when the first has ended.
    job_of(bench, SECOND, tmp_path, 1)
    workloads = partial(owner.names, VERSION, "Workload", NAMESPACE)
    until(lambda: len(workloads()) == 2, "Kueue to take in the second")
    assert spec_of(bench, SECOND)["suspend"] is True
    job = {"apiVersion": "batch/v1", "kind": "Job"}
    owner.patch(
        {**job, "metadata": {"name": FIRST, "namespace": NAMESPACE}}, {"status": _ENDED}, "status"
    )
    until(lambda: not spec_of(bench, SECOND)["suspend"], "Kueue to let the second begin")
    assert spec_of(bench, SECOND)["parallelism"] == 1
