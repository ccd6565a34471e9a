"""Where pods run, and under what: namespaces, service accounts, security context constraints."""

from typing import Any

import pytest

from plimsoll.errors import InputError
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.render.render import render
from tests.unit.tune.intent_documents import POOL, intent_with
from tests.unit.tune.render.rendering import documents, rendered
from tests.worded.says import Says

CARD = {
    "name": "card",
    "pf_names": ["ens1"],
    "num_vfs": 8,
    "driver": "vfio-pci",
    "resource_name": "card",
}
FAST = {"kind": "sriov", "name": "fast", "nic": "card"}
POD = {"name": "p", "cpus": 2, "memory": "1Gi"}


def with_pods(*pods: dict[str, Any], **sections: Any) -> Intent:
    """On a card with eight VFs; each pod joins its network unless it says otherwise."""
    sections = {"nics": [CARD], "networks": [FAST]} | sections
    given = [POD | {"name": f"p{n}", "networks": ["fast"]} | pod for n, pod in enumerate(pods)]
    return intent_with(POOL, pods=given, **sections)


# All that is meant to be in one namespace, by the object: an attachment elsewhere is one that
# Multus does not find, as a name without a namespace is the pod's own.
@pytest.mark.parametrize(
    ("sections", "pod", "namespace"),
    [({}, {}, "manual"), ({"namespace": "lab"}, {}, "lab"), ({}, {"namespace": "own"}, "own")],
)
def test_one_namespace_everywhere(
    sections: dict[str, Any], pod: dict[str, str], namespace: str
) -> None:
    found = documents(with_pods(pod, **sections))
    assert found[f"2-network/45-namespace-{namespace}.yaml"]["metadata"]["name"] == namespace
    network = found["2-network/60-sriov-network-fast.yaml"]
    assert network["spec"]["networkNamespace"] == namespace
    assert found["alternatives/network-fast.yaml"]["metadata"]["namespace"] == namespace
    for path, document in found.items():
        if path.startswith("3-workload/") and document["kind"] != "SecurityContextConstraints":
            assert document["metadata"]["namespace"] == namespace, path
    annotations = found["3-workload/70-pod-p0.yaml"]["metadata"]["annotations"]
    assert annotations["k8s.v1.cni.cncf.io/networks"] == "fast"


def test_the_namespace_lets_in_pods_with_capabilities() -> None:
    """The four labels of OpenShift's documentation, "Using DPDK and RDMA"."""
    found = documents(with_pods({}))["2-network/45-namespace-manual.yaml"]
    assert found["metadata"]["labels"] == {
        "pod-security.kubernetes.io/audit": "privileged",
        "pod-security.kubernetes.io/enforce": "privileged",
        "pod-security.kubernetes.io/warn": "privileged",
        "security.openshift.io/scc.podSecurityLabelSync": "false",
    }


def test_a_vf_that_the_kernel_drives_takes_no_rights() -> None:
    """An interface in the pod: no locked memory, no root, no constraint beyond restricted-v2."""
    files = documents(with_pods({}, nics=[CARD | {"driver": "netdevice"}]))
    namespace = files["2-network/45-namespace-manual.yaml"]
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "baseline"
    assert [path for path in files if path.startswith("3-workload/6")] == []
    spec = files["3-workload/70-pod-p0.yaml"]["spec"]
    assert "serviceAccountName" not in spec
    (container,) = spec["containers"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert "runAsUser" not in container["securityContext"]


# Pod Security Standards: NET_BIND_SERVICE is in the baseline's list, IPC_LOCK is not.
@pytest.mark.parametrize("added", [[], ["NET_BIND_SERVICE"]])
def test_a_namespace_lets_in_no_more_than_its_pods_need(added: list[str]) -> None:
    found = documents(with_pods({"capabilities": added}))["2-network/45-namespace-manual.yaml"]
    assert found["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "baseline"


def test_the_clusters_own_namespaces_are_not_made() -> None:
    found = documents(with_pods({}, networks=[FAST | {"namespace": "default"}]))
    namespaces = [path for path in found if "namespace-" in path]
    assert namespaces == ["2-network/45-namespace-manual.yaml"]


def test_an_intent_without_pods_and_networks_has_no_namespace() -> None:
    assert not any("namespace" in path for path in documents(intent_with(POOL)))


CONSTRAINT = "3-workload/61-security-context-constraint-manual.yaml"


def test_the_constraint_allows_what_the_pods_add_and_nothing_else() -> None:
    raw = {"capabilities": ["NET_RAW", "IPC_LOCK"]}
    found = documents(with_pods({}, raw, {"capabilities": []}))[CONSTRAINT]
    assert found["apiVersion"] == "security.openshift.io/v1"
    assert found["metadata"] == {"name": "manual-dataplane"}
    assert found["allowedCapabilities"] == ["IPC_LOCK", "NET_RAW"]
    assert found["requiredDropCapabilities"] == ["ALL"]
    assert found["defaultAddCapabilities"] == []
    assert found["runAsUser"] == {"type": "MustRunAs", "uid": 0}
    assert found["seccompProfiles"] == ["runtime/default"]
    # The hugepages', and what the SR-IOV operator's injector mounts at /etc/podnetinfo.
    assert found["volumes"] == ["downwardAPI", "emptyDir"]
    allowed = {name for name, value in found.items() if name.startswith("allow") and value}
    assert allowed == {"allowedCapabilities"}
    assert (found["users"], found["groups"]) == ([], [])


def test_the_account_may_use_the_constraint_and_the_pod_runs_under_it() -> None:
    found = documents(with_pods({}))
    account = found["3-workload/60-service-account-manual.yaml"]
    assert account["automountServiceAccountToken"] is False
    role = found["3-workload/62-role-manual.yaml"]
    assert role["rules"] == [
        {
            "apiGroups": ["security.openshift.io"],
            "resourceNames": [found[CONSTRAINT]["metadata"]["name"]],
            "resources": ["securitycontextconstraints"],
            "verbs": ["use"],
        }
    ]
    binding = found["3-workload/63-role-binding-manual.yaml"]
    assert binding["roleRef"] == {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "Role",
        "name": role["metadata"]["name"],
    }
    name = account["metadata"]["name"]
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": name, "namespace": "manual"}]
    spec = found["3-workload/70-pod-p0.yaml"]["spec"]
    assert spec["serviceAccountName"] == name
    assert spec["containers"][0]["securityContext"]["runAsUser"] == 0


def test_pods_without_capabilities_need_no_account_and_no_root() -> None:
    found = documents(with_pods({"capabilities": []}))
    assert [path for path in found if path.startswith("3-")] == ["3-workload/70-pod-p0.yaml"]
    spec = found["3-workload/70-pod-p0.yaml"]["spec"]
    assert "serviceAccountName" not in spec
    assert "runAsUser" not in spec["containers"][0]["securityContext"]


def test_each_namespace_has_a_constraint_of_its_own() -> None:
    """One pod's further capability is no other namespace's."""
    elsewhere = {"namespace": "other", "networks": [], "capabilities": ["SYS_NICE"]}
    found = documents(with_pods({}, elsewhere))
    other = found["3-workload/61-security-context-constraint-other.yaml"]
    assert (other["metadata"]["name"], other["allowedCapabilities"]) == (
        "other-dataplane",
        ["SYS_NICE"],
    )
    assert found[CONSTRAINT]["allowedCapabilities"] == ["IPC_LOCK"]


def test_how_it_is_undone(says: Says) -> None:
    files = rendered(with_pods({}))
    assert files[CONSTRAINT].undo == "`oc delete scc manual-dataplane`"
    assert files["3-workload/70-pod-p0.yaml"].undo == says()
    assert files["2-network/45-namespace-manual.yaml"].undo == says()


@pytest.mark.parametrize(
    ("sections", "pod", "field", "namespace"),
    [
        ({"namespace": "default"}, {}, "namespace", "default"),
        ({"name": "openshift-dpdk"}, {}, "namespace", "openshift-dpdk"),
        ({}, {"namespace": "kube-system"}, "pods[0].namespace", "kube-system"),
    ],
)
def test_a_namespace_of_the_clusters_own(
    sections: dict[str, Any], pod: dict[str, str], field: str, namespace: str, says: Says
) -> None:
    with pytest.raises(InputError) as caught:
        render(with_pods({"networks": []} | pod, networks=[], **sections))
    assert caught.value == says(str(field), str(namespace), "OpenShift", "pods")


def test_a_network_of_another_namespace(says: Says) -> None:
    with pytest.raises(InputError) as caught:
        render(with_pods({}, networks=[FAST | {"namespace": "shared"}]))
    assert caught.value == says("pods[0].networks[0]", "namespace", "OpenShift")


def test_of_two_namespaces_only_the_first_finds_a_network_that_names_none(says: Says) -> None:
    with pytest.raises(InputError) as caught:
        render(with_pods({}, {"namespace": "other"}))
    assert caught.value == says("pods[1].networks[0]")
