"""A cluster as intended, one thing changed at a time: its checks turn, and no others.

See test_tune_cluster.py for what is real here and what is written by hand; changes of what
pods may do are in cluster/rights_changes.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.cluster.audit_command import assert_turned, audited
from tests.integration.cluster.change import Change, Manifest, changed, missing
from tests.integration.cluster.owner import Refused
from tests.integration.cluster.presets import DETERMINISTIC, as_intended, rendered, written
from tests.integration.cluster.rights_changes import RIGHTS_CHANGES, RIGHTS_MISSING
from tests.integration.cluster.served import ServedCluster

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def deterministic(kube_cluster: ServedCluster) -> Iterator[list[Manifest]]:
    """What was applied for a cluster that is as the preset wants it."""
    there = as_intended(DETERMINISTIC)
    kube_cluster.owner.apply_all(there)
    yield there
    kube_cluster.owner.clear()


@pytest.mark.parametrize(
    ("kind", "fields", "words"),
    [
        ("PerformanceProfile", {"spec": {"cpus": "2-39"}}, 'unknown field "spec.cpus"'),
        ("PerformanceProfile", {"spec": {"cpu": {"isolated": None}}}, "spec.cpu.isolated"),
        ("SriovNetworkNodePolicy", {"spec": {"deviceType": "uio"}}, "Unsupported value"),
        ("SriovNetwork", {"spec": {"vlan": 4097}}, "spec.vlan"),
        ("Pod", {"spec": {"runtimeClass": "x"}}, 'unknown field "spec.runtimeClass"'),
    ],
)
def test_the_server_would_refuse_mistakes(
    kube_cluster: ServedCluster,
    deterministic: list[Manifest],
    kind: str,
    fields: dict[str, Any],
    words: str,
) -> None:
    given = next(each for each in deterministic if each["kind"] == kind)
    with pytest.raises(Refused, match=re.escape(words)):
        kube_cluster.owner.patch(given, fields)


def test_the_namespace_has_to_let_in_what_the_pod_is_given(
    kube_cluster: ServedCluster, deterministic: list[Manifest]
) -> None:
    """Kubernetes' own admission, by the label that is rendered: one level less is too little."""
    given = {each["kind"]: each for each in deterministic if "status" not in each}
    pod = given["Pod"]
    labels = given["Namespace"]["metadata"]["labels"]
    enforced = "pod-security.kubernetes.io/enforce"
    another = {**pod, "metadata": pod["metadata"] | {"name": "another"}}
    kube_cluster.owner.patch(given["Namespace"], {"metadata": {"labels": {enforced: "baseline"}}})
    try:
        with pytest.raises(Refused, match=r'violates PodSecurity "baseline:latest".*IPC_LOCK'):
            kube_cluster.owner.apply(another)
    finally:
        kube_cluster.owner.patch(given["Namespace"], {"metadata": {"labels": labels}})
    kube_cluster.owner.apply(another)
    kube_cluster.owner.delete(another)


_AMOUNTS = {"cpu": "4", "memory": "1000Mi", "hugepages-1Gi": "4Gi"}


def container(**changes: Any) -> dict[str, Any]:
    """The list of the pod's one container, changed: a merge replaces lists as a whole."""
    pod = next(each for each in rendered(DETERMINISTIC) if each["kind"] == "Pod")
    (only,) = pod["spec"]["containers"]
    return {"spec": {"containers": [only | changes]}}


def resources(**changes: str) -> dict[str, Any]:
    devices = {"openshift.io/intelnic_east": "1", "openshift.io/intelnic_west": "1"}
    limits = _AMOUNTS | devices
    return {"limits": limits, "requests": limits | changes}


def port(**changes: Any) -> dict[str, Any]:
    """The status of the node's ports, the first of the card changed."""
    state = next(each for each in written(DETERMINISTIC) if each["kind"] == "SriovNetworkNodeState")
    onboard, east, west = state["status"]["interfaces"]
    return {"status": {"interfaces": [onboard, east | changes, west]}}


def conditions(**states: str) -> dict[str, Any]:
    """Conditions True or False; one that is True says why."""
    return {
        "conditions": [
            {
                "type": kind,
                "status": state,
                "lastTransitionTime": "2026-11-03T09:00:00Z",
                "message": "as this test has it" if state == "True" else "",
                "reason": "Test",
            }
            for kind, state in states.items()
        ]
    }


CHANGES = [
    Change(
        "one CPU less is isolated",
        *("PerformanceProfile", "reghwol", {"spec": {"cpu": {"isolated": "2-38"}}}),
        {101: ("fail", "spec.cpu.isolated is 2-38, not 2-39")},
    ),
    Change(
        "the same CPUs in other words",
        *("PerformanceProfile", "reghwol", {"spec": {"cpu": {"reserved": "0-1"}}}),
        {},
    ),
    Change(
        "the operator cannot carry it out",
        *("PerformanceProfile", "reghwol"),
        {"status": conditions(Available="False", Degraded="True")},
        {101: ("fail", "cannot carry PerformanceProfile reghwol out: as this test has it")},
        part="status",
    ),
    Change(
        "the pool is paused before its rollout",
        *("MachineConfigPool", "reghwol", {"spec": {"paused": True}}),
        {},
    ),
    Change(
        "the rollout has begun",
        *("MachineConfigPool", "reghwol"),
        {"status": {"updatedMachineCount": 0, **conditions(Updated="False", Degraded="False")}},
        {102: ("warn", "0 of 1 machines have the expected configuration")},
        part="status",
    ),
    Change(
        "the rollout failed",
        *("MachineConfigPool", "reghwol"),
        {"status": conditions(NodeDegraded="True", Degraded="True")},
        {102: ("fail", "is degraded: as this test has it")},
        part="status",
    ),
    Change(
        "the nodes run without the operator's MachineConfig",
        *("MachineConfigPool", "reghwol"),
        {"status": {"configuration": {"source": [{"kind": "MachineConfig", "name": "00-worker"}]}}},
        {103: ("fail", "do not run with 50-performance-reghwol")},
        part="status",
    ),
    Change(
        "a real-time kernel that the intent does not have",
        *("MachineConfig", "50-performance-reghwol", {"spec": {"kernelType": "realtime"}}),
        {103: ("fail", "boots the kernel realtime")},
    ),
    Change(
        "the topology manager is laxer",
        *("KubeletConfig", "performance-reghwol"),
        {"spec": {"kubeletConfig": {"topologyManagerPolicy": "restricted"}}},
        {104: ("fail", "topologyManagerPolicy is restricted, not single-numa-node")},
    ),
    Change(
        "the runtime class is of another handler",
        *("RuntimeClass", "performance-reghwol", {"handler": "runc"}),
        {105: ("fail", "has the handler runc")},
        anew=True,
    ),
    Change(
        "another TuneD profile wins",
        *("Profile", "dataplane-0"),
        {"status": {"tunedProfile": "openshift-node"}},
        {107: ("fail", "node dataplane-0 runs openshift-node")},
        part="status",
    ),
    Change(
        "a part of the TuneD profile failed",
        *("Profile", "dataplane-0", {"status": conditions(Applied="True", Degraded="True")}),
        {107: ("warn", "parts of openshift-node-performance-reghwol only: as this test has it")},
        part="status",
    ),
    Change(
        "more VFs by the policy",
        *("SriovNetworkNodePolicy", "east", {"spec": {"numVfs": 4}}),
        {108: ("fail", "spec.numVfs is 4, not 1")},
    ),
    Change(
        "the ports could not be divided",
        *("SriovNetworkNodeState", "dataplane-0"),
        {"status": {"syncStatus": "Failed", "lastSyncError": "cannot allocate memory"}},
        {109: ("fail", "cannot divide its ports: cannot allocate memory")},
        part="status",
    ),
    Change(
        "a VF has the kernel's driver",
        *("SriovNetworkNodeState", "dataplane-0"),
        port(Vfs=[{"vfID": 0, "driver": "iavf", "pciAddress": "0000:87:01.0"}]),
        {109: ("fail", "Vfs[0].driver is iavf, not vfio-pci")},
        part="status",
    ),
    Change(
        "the port came up slower",
        *("SriovNetworkNodeState", "dataplane-0", port(linkSpeed="10000 Mb/s")),
        {109: ("fail", "linkSpeed is 10000 Mb/s, not 25000 Mb/s")},
        part="status",
    ),
    Change(
        "the network is not trusted",
        *("SriovNetwork", "west-sriov-net", {"spec": {"trust": "off"}}),
        {110: ("fail", "spec.trust is off, not on")},
    ),
    Change(
        "the attachment is of another resource",
        *("NetworkAttachmentDefinition", "west-sriov-net"),
        {"metadata": {"annotations": {"k8s.v1.cni.cncf.io/resourceName": "openshift.io/other"}}},
        {
            110: ("fail", "is of openshift.io/other, not of openshift.io/intelnic_west"),
            116: ("fail", "joins 1 networks of openshift.io/other, and asks for 0"),
        },
    ),
    Change(
        "the kernel got fewer pages",
        *("Node", "dataplane-0", {"status": {"allocatable": {"hugepages-1Gi": "12Gi"}}}),
        {112: ("fail", "has 12Gi of hugepages-1Gi (allocatable), not 16Gi")},
        part="status",
    ),
    Change(
        "the node is cordoned",
        *("Node", "dataplane-0", {"spec": {"unschedulable": True}}),
        {112: ("warn", "it is cordoned")},
    ),
    Change(
        "the node is of no pool",
        *("Node", "dataplane-0"),
        {"metadata": {"labels": {"node-role.kubernetes.io/reghwol": None}}},
        dict.fromkeys(
            (107, 109, 112),
            ("unknown", "a node with node-role.kubernetes.io/reghwol= does not exist"),
        ),
    ),
    Change(
        "requests below limits, so that the server makes the pod Burstable",
        *("Pod", "testpmd", container(resources=resources(cpu="3"))),
        {
            113: ("fail", "resources.requests.cpu is 3, not 4"),
            114: ("fail", "is Burstable"),
        },
        anew=True,
    ),
    Change(
        "the same amounts in other words, which the server rewrites",
        *("Pod", "testpmd", container(resources={
            "limits": resources()["limits"] | {"cpu": "4000m", "hugepages-1Gi": "4096Mi"},
            "requests": resources()["limits"] | {"cpu": "4000m", "hugepages-1Gi": "4096Mi"},
        })),
        {},
        anew=True,
    ),
    Change(
        "an annotation of former times",
        *("Pod", "testpmd", {"metadata": {"annotations": {"cpu-quota.crio.io": "true"}}}),
        {113: ("fail", "is true, not disable"), 115: ("warn", "cpu-quota.crio.io: true")},
    ),
    Change(
        "no runtime class",
        *("Pod", "testpmd", {"spec": {"runtimeClassName": None}}),
        {
            113: ("fail", "spec.runtimeClassName is not set"),
            115: ("fail", "has no runtime class, so CRI-O ignores its annotations"),
        },
        anew=True,
    ),
    Change(
        "one network less",
        *("Pod", "testpmd"),
        {"metadata": {"annotations": {"k8s.v1.cni.cncf.io/networks": "east-sriov-net"}}},
        {
            113: ("fail", "is east-sriov-net, not east-sriov-net,west-sriov-net"),
            116: ("warn", "asks for 1 of openshift.io/intelnic_west, and 1 join no network"),
        },
    ),
    Change(
        "an exec probe",
        *("Pod", "testpmd", container(livenessProbe={"exec": {"command": ["true"]}})),
        {117: ("fail", "testpmd.livenessProbe")},
        anew=True,
    ),
    Change(
        "the pod waits",
        *("Pod", "testpmd"),
        {"status": {"phase": "Pending", **conditions(PodScheduled="False")}},
        {113: ("warn", "pod reghwol/testpmd waits")},
        part="status",
    ),
    Change(
        "the node refused the pod",
        *("Pod", "testpmd"),
        {"status": {"phase": "Failed", "reason": "TopologyAffinityError", "message": "no room"}},
        {
            113: ("fail", "the node refused or evicted pod reghwol/testpmd: TopologyAffinityError"),
            **dict.fromkeys(range(114, 118), ("not-applicable", "no pod of the dataplane runs")),
        },
        part="status",
    ),
]  # fmt: skip


@pytest.mark.parametrize("change", [*CHANGES, *RIGHTS_CHANGES], ids=lambda change: change.title)
def test_what_is_changed_turns_its_checks_and_no_others(
    kube_cluster: ServedCluster, deterministic: list[Manifest], change: Change
) -> None:
    with changed(kube_cluster.owner, change, deterministic):
        report = audited(kube_cluster.config, DETERMINISTIC)
    assert_turned(report, DETERMINISTIC, change.turned)
    assert audited(kube_cluster.config, DETERMINISTIC).status == 0


@pytest.mark.parametrize(
    ("kind", "name", "turned"),
    [
        ("PerformanceProfile", "reghwol", {101: ("fail", "there is no PerformanceProfile")}),
        ("KubeletConfig", "performance-reghwol", {104: ("fail", "there is no KubeletConfig")}),
        ("Profile", "dataplane-0", {107: ("fail", "node dataplane-0 has no Profile")}),
        ("SriovNetworkNodePolicy", "west", {108: ("fail", "there is no SriovNetworkNodePolicy")}),
        ("SriovNetworkNodeState", "dataplane-0", {109: ("fail", "has no SriovNetworkNodeState")}),
        (
            "NetworkAttachmentDefinition",
            "east-sriov-net",
            {
                110: ("fail", "the SR-IOV operator has made no"),
                116: ("fail", "joins reghwol/east-sriov-net, and there is no such"),
            },
        ),
        *RIGHTS_MISSING,
    ],
)  # fmt: skip
def test_what_is_missing_turns_its_checks_and_no_others(
    kube_cluster: ServedCluster,
    deterministic: list[Manifest],
    kind: str,
    name: str,
    turned: dict[int, tuple[str, str]],
) -> None:
    with missing(kube_cluster.owner, kind, name, deterministic):
        report = audited(kube_cluster.config, DETERMINISTIC)
    assert_turned(report, DETERMINISTIC, turned)
