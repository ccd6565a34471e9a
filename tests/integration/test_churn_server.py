"""What churn asks of a cluster, against a real kube-apiserver and its etcd.

Without scheduler and controllers: pods are bound to a fake node by hand. Skipped where there is no
server; `make kube-apiserver` builds one.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.churn.control_plane.control_plane import ControlPlane, api_server
from plimsoll.churn.control_plane.fake_kubelet import FAKE_LABEL
from plimsoll.churn.control_plane.programs import find_programs
from plimsoll.churn.driver.pod_watch import watching
from plimsoll.churn.driver.workload import (
    KIND_LABEL,
    RDS_CORE,
    Workload,
    namespace_document,
    namespace_objects,
)
from plimsoll.churn.kpis.latencies import etcd_latencies, request_latencies
from plimsoll.churn.kpis.sampler import APISERVER, ETCD, Targets, sampling
from plimsoll.churn.kpis.sources import ApiServerMetrics, SocketMetrics
from plimsoll.errors import MachineError
from plimsoll.host.kubernetes.api_client import CONFLICT, ApiClient
from plimsoll.host.ledger.janitor import swept_ledger
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.child import Child, module_argv, module_environment
from tests.integration.command import ROOT, until

BUILT = ROOT / "build" / "kube-apiserver"
# No controller gives a namespace the account that this plugin asks of each pod.
WITHOUT_ACCOUNTS = ["--disable-admission-plugins=ServiceAccount"]
WORKLOAD = Workload("server", RDS_CORE, "registry.k8s.io/pause:3.10", {"hugepages-1Gi": "16Gi"})

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def ledger() -> Iterator[Ledger]:
    with swept_ledger("churn") as made:
        yield made


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, ledger: Ledger) -> Iterator[ControlPlane]:
    try:
        programs = find_programs(BUILT, ("etcd", "kube-apiserver"))
    except MachineError as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("server") / "control-plane"
    with api_server(programs, folder, ledger, WITHOUT_ACCOUNTS) as plane:
        yield plane


@pytest.fixture(scope="module")
def client(served: ControlPlane) -> ApiClient:
    return ApiClient.of(None, str(served.kubeconfig))


def test_every_object_is_taken_and_counted(client: ApiClient, served: ControlPlane) -> None:
    sources = {APISERVER: ApiServerMetrics(client), ETCD: SocketMetrics(served.etcd_socket)}
    targets = Targets(sources, served.pids, machine=True)
    with sampling(targets, 60.0, lambda name, scrape: None) as sampler:
        for each in (namespace_document(WORKLOAD, 0), *namespace_objects(WORKLOAD, 0)):
            answer = client.create(each.path, each.document)
            assert answer.status == 201, answer.reason
    assert sampler.failures == {}
    first, last = sampler.readings
    found = request_latencies(last.scrapes[APISERVER], first.scrapes[APISERVER])
    posts = {
        dict(labels)["resource"]: histogram.count
        for labels, histogram in found.by_request.items()
        if dict(labels)["verb"] == "POST"
    }
    # The server's own count of what was made here, resource by resource.
    expected = {
        "namespaces": 1,
        "secrets": 42,
        "configmaps": 30,
        "networkpolicies": 3,
        "sriovnetworks": 3,
        "services": 21,
        "routes": 2,
        "deployments": 27,
    }
    assert {name: posts.get(name) for name in expected} == expected
    etcd = etcd_latencies(last.scrapes[ETCD], first.scrapes[ETCD])
    assert etcd["wal-fsync"].count > 0
    assert etcd["backend-commit"].count > 0
    assert "peer-round-trip" not in etcd
    assert set(last.usages) == {APISERVER, ETCD}


def test_what_is_there_is_a_conflict_and_what_is_not_is_not_found(client: ApiClient) -> None:
    document = namespace_document(WORKLOAD, 1)
    assert client.create(document.path, document.document).ok
    again = client.create(document.path, document.document)
    assert (again.status, "already exists" in again.reason) == (CONFLICT, True)
    assert client.delete("/api/v1/namespaces/none").status == 404


def test_pods_of_a_fake_node_become_ready_and_go(
    client: ApiClient, served: ControlPlane, ledger: Ledger, tmp_path: Path
) -> None:
    argv = module_argv(
        "plimsoll.churn.control_plane.fake_kubelet",
        *(str(served.kubeconfig), "1", "0.5", "hugepages-1Gi=160Gi"),
    )
    kubelet = Child.start(
        argv, log=tmp_path / "log", environment=module_environment(ledger.environment), folder=ROOT
    )
    try:
        until(lambda: client.get("/api/v1/nodes/fake-000").ok, 120)
        node = client.get("/api/v1/nodes/fake-000").document
        assert node["metadata"]["labels"][FAKE_LABEL] == "true"
        assert "fake" in node["status"]["nodeInfo"]["kubeletVersion"]
        _check_pods(client)
    finally:
        kubelet.end(1)
        sys.stderr.write((tmp_path / "log").read_text()[-2000:])


def _check_pods(client: ApiClient) -> None:
    namespace = namespace_document(WORKLOAD, 2)
    assert client.create(namespace.path, namespace.document).ok
    pods = f"/api/v1/namespaces/{WORKLOAD.namespace(2)}/pods"
    since_ns = time.time_ns()
    with watching(client, WORKLOAD.selector) as watch:
        for number in range(5):
            answer = client.create(pods, _pod(f"p{number}"))
            assert answer.ok, answer.reason
        assert watch.wait_until_ready({WORKLOAD.namespace(2): 5}, since_ns, 120)
        seen = watch.pods(since_ns)
        assert {pod.kind for pod in seen} == {"client"}
        # It takes the half second that it was given, and the server's own time.
        assert all((pod.ready_ms or 0) >= 400 for pod in seen)
        assert all((pod.condition_s("Ready") or 0) >= 0 for pod in seen)
        assert not watch.wait_until_ready({WORKLOAD.namespace(2): 6}, since_ns, 0.5)
        for number in range(5):
            assert client.delete(f"{pods}/p{number}").ok
        until(lambda: client.items(pods, WORKLOAD.selector)[0] == [], 120)


def _pod(name: str) -> dict[str, object]:
    labels = {KIND_LABEL: "client", **WORKLOAD.labels}
    container = {"name": "c", "image": WORKLOAD.image}
    spec = {"nodeName": "fake-000", "containers": [container], "terminationGracePeriodSeconds": 1}
    metadata = {"name": name, "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
