"""The pods of streams, against what Kubernetes says of a pod and the standard "restricted"."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.churn.latency.probes import LatencyProbeSettings
from plimsoll.churn.pod_streams.stream_pods import (
    AttachedNetwork,
    ClusterNetwork,
    NodeNetwork,
    PodNetwork,
    StreamPodPlan,
    StreamPods,
)
from plimsoll.churn.streams.iperf3 import TcpStreamPlan
from tests.unit.tune.render import cluster_openapi

PODS = StreamPods(
    namespace="bench",
    image="registry.lab/plimsoll",
    cpu="2",
    client_nodes={"role": "clients"},
)
NETWORKS: list[ClusterNetwork] = [
    PodNetwork(kind="pod-network"),
    NodeNetwork(kind="host-network"),
    AttachedNetwork(
        kind="attachment", attachment="nets/vf", resources={"openshift.io/intelnics": "1"}
    ),
]


def plan(network: ClusterNetwork, rate_bps: float | None = 25e6) -> StreamPodPlan:
    probe = LatencyProbeSettings(pps=500, pairs=1)
    return StreamPodPlan("ab12", "trial-0007", PODS, network, TcpStreamPlan(rate_bps, 0.1), probe)


def both(network: ClusterNetwork, pair: int = 3) -> list[dict[str, Any]]:
    made = plan(network)
    return [made.server(pair), made.client(pair, "10.1.2.3")]


@pytest.mark.skipif(not cluster_openapi.is_there(), reason="make cluster-openapi")
@pytest.mark.parametrize("network", NETWORKS, ids=lambda each: str(each.kind))
def test_a_server_takes_every_field(network: ClusterNetwork) -> None:
    for pod in (*both(network, 1), *both(network, 2)):
        assert cluster_openapi.mistakes_in(pod) == []


@pytest.mark.parametrize("network", NETWORKS, ids=lambda each: str(each.kind))
def test_they_have_no_rights_and_their_requests_are_their_limits(network: ClusterNetwork) -> None:
    for pod in both(network, 1):
        spec = pod["spec"]
        stream, probe = spec["containers"]
        assert stream["securityContext"] == probe["securityContext"]
        security = stream["securityContext"]
        assert security["runAsNonRoot"]
        assert not security["allowPrivilegeEscalation"]
        assert security["capabilities"] == {"drop": ["ALL"]}
        assert security["seccompProfile"] == {"type": "RuntimeDefault"}
        assert spec["automountServiceAccountToken"] is False
        for each in (stream, probe):
            assert each["resources"]["limits"] == each["resources"]["requests"]
        assert stream["resources"]["limits"]["cpu"] == "2"
        # Both write, and neither reads what the other has written.
        assert len({each["volumeMounts"][0]["name"] for each in (stream, probe)}) == 2


def test_a_client_knows_its_server_and_its_pace() -> None:
    server, client = both(NETWORKS[0])
    (there,) = server["spec"]["containers"]
    (here,) = client["spec"]["containers"]
    assert there["command"][-3:] == ["server", "0.1", "5201"]
    assert here["command"][-5:] == ["client", "0.1", "5201", "10.1.2.3", "25000000"]
    fast = plan(NETWORKS[0], None).client(1, "10.1.2.3")
    assert fast["spec"]["containers"][0]["command"][-1] == "0"


def test_the_first_pairs_are_probed() -> None:
    server, client = both(NETWORKS[0], 1)
    _, reflector = server["spec"]["containers"]
    _, prober = client["spec"]["containers"]
    assert reflector["command"][-2:] == ["reflect", "5201"]
    assert prober["command"][-4:] == ["probe", "5201", "10.1.2.3", "500"]
    assert all(len(pod["spec"]["containers"]) == 1 for pod in both(NETWORKS[0], 2))


def test_names_are_of_one_cell_and_one_label_selects_all_of_the_run() -> None:
    server, client = both(NETWORKS[0])
    assert server["metadata"]["name"] == "plimsoll-ab12-trial-0007-server-3"
    assert client["metadata"]["name"] == "plimsoll-ab12-trial-0007-client-3"
    key, value = plan(NETWORKS[0]).selector.split("=")
    assert all(pod["metadata"]["labels"][key] == value for pod in (server, client))


def test_a_pair_is_apart_and_clients_are_where_they_are_to_be() -> None:
    server, client = both(NETWORKS[0])
    assert client["spec"]["nodeSelector"] == {"role": "clients"}
    assert "nodeSelector" not in server["spec"]
    rules = [
        pod["spec"]["affinity"]["podAntiAffinity"][
            "preferredDuringSchedulingIgnoredDuringExecution"
        ][0]["podAffinityTerm"]["labelSelector"]["matchLabels"]
        for pod in (server, client)
    ]
    ((label, pair),) = rules[0].items()
    assert rules[0] == rules[1]
    assert {pod["metadata"]["labels"][label] for pod in (server, client)} == {pair}


def test_on_the_nodes_own_network_each_server_has_its_own_port() -> None:
    ports = []
    for pair in (2, 3):
        server, client = both(NETWORKS[1], pair)
        assert server["spec"]["hostNetwork"]
        assert client["spec"]["hostNetwork"]
        ((port,),) = [each["ports"] for each in server["spec"]["containers"]]
        assert port["hostPort"] == port["containerPort"]
        assert str(port["hostPort"]) in client["spec"]["containers"][0]["command"]
        ports.append(port["hostPort"])
    assert len(set(ports)) == 2


def test_an_attachment_is_named_to_multus_and_taken_of_the_node() -> None:
    for pod in both(NETWORKS[2]):
        assert pod["metadata"]["annotations"] == {"k8s.v1.cni.cncf.io/networks": "nets/vf"}
        limits = pod["spec"]["containers"][0]["resources"]["limits"]
        assert limits["openshift.io/intelnics"] == "1"
        assert "hostNetwork" not in pod["spec"]
