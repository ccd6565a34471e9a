"""Every check of a cluster: the healthy one, and what is said when one thing is amiss."""

import copy
from typing import Any

import pytest

from plimsoll.tune.audit.finding import CheckFinding
from plimsoll.tune.cluster.cluster_audit import audit_cluster, joined
from plimsoll.tune.cluster.cluster_view import ClusterView
from plimsoll.tune.cluster.registry import all_cluster_checks
from plimsoll.tune.host.view.unread import UnreadCause
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.load import load_preset
from tests.unit.tune.cluster.clusters import SmallCluster, cluster, intent, objects, with_another

PROFILE, POOL, POD, NODE = "PerformanceProfile", "MachineConfigPool", "Pod", "Node"
STATE, POLICY, NETWORK = "SriovNetworkNodeState", "SriovNetworkNodePolicy", "SriovNetwork"
CONTAINER = "spec/containers/0"


def judged(name: str, view: ClusterView, expected: Intent | None = None) -> CheckFinding:
    """The finding of the check of that name."""
    (check,) = [each for each in all_cluster_checks() if each.name == name]
    return check.judge(view, expected or intent())


def test_a_cluster_as_expected_is_ok_in_every_check() -> None:
    done = audit_cluster(cluster(), intent())
    assert {each.name: each.verdict for each in done.findings} == {
        each.name: "ok" for each in all_cluster_checks()
    }
    assert (done.host, done.kernel) == ("pool dataplane", "5.14.0-427.el9.x86_64")
    assert (done.source, done.intent) == ("a small cluster", "fast")


def test_numbers_and_names_are_unique_and_apart_from_the_hosts() -> None:
    checks = all_cluster_checks()
    assert [each.number for each in checks] == list(range(101, 101 + len(checks)))
    assert len({each.name for each in checks}) == len(checks)


@pytest.mark.parametrize(
    ("name", "change", "verdict", "text"),
    [
        (
            "performance-profile",
            (PROFILE, "spec/cpu/isolated", "2-5"),
            "fail",
            "PerformanceProfile fast: spec.cpu.isolated is 2-5, not 2-7",
        ),
        (
            "performance-profile",
            (PROFILE, "spec/additionalKernelArgs", ["audit=0", "quiet"]),
            "warn",
            "spec.additionalKernelArgs has quiet, which is not in the intent",
        ),
        (
            "performance-profile",
            (PROFILE, "spec/numa", None),
            "fail",
            "spec.numa.topologyPolicy is best-effort, not single-numa-node",
        ),
        (
            "performance-profile",
            (PROFILE, "spec/realTimeKernel", {"enabled": True}),
            "fail",
            "spec.realTimeKernel.enabled is true, not false",
        ),
        (
            "performance-profile",
            (PROFILE, "status/conditions/1", {"type": "Degraded", "status": "True"}),
            "fail",
            "the operator cannot carry PerformanceProfile fast out: it does not say why",
        ),
        (
            "machine-config-pool",
            (POOL, "status/updatedMachineCount", 0),
            "warn",
            "0 of 1 machines have the expected configuration",
        ),
        ("machine-config-pool", (POOL, "status/machineCount", 0), "fail", "has no machines"),
        (
            "machine-config-pool",
            (
                POOL,
                "status/conditions",
                [
                    {"type": "Degraded", "status": "True"},
                    {"type": "NodeDegraded", "status": "True", "message": "node w0: disk full"},
                ],
            ),
            "fail",
            "is degraded: node w0: disk full",
        ),
        (
            "machine-configs",
            (POOL, "status/configuration/source", [{"name": "00-worker"}]),
            "fail",
            "the nodes of pool dataplane do not run with 50-performance-fast",
        ),
        (
            "machine-configs",
            ("MachineConfig", "spec/kernelType", "realtime"),
            "fail",
            "boots the kernel realtime",
        ),
        (
            "kubelet-config",
            ("KubeletConfig", "spec/kubeletConfig/topologyManagerPolicy", "none"),
            "fail",
            "spec.kubeletConfig.topologyManagerPolicy is none, not single-numa-node",
        ),
        ("runtime-class", ("RuntimeClass", "handler", "runc"), "fail", "has the handler runc"),
        (
            "tuned-patch",
            ("Tuned", "spec/profile/0/data", "[service]\nservice.chronyd=start"),
            "fail",
            "spec.profile[performance-patch].data.main.include is not set",
        ),
        (
            "node-profiles",
            ("Profile", "status/tunedProfile", "openshift-node"),
            "fail",
            "node w0 runs openshift-node, and is assigned performance-patch",
        ),
        (
            "node-profiles",
            (
                "Profile",
                "status/conditions/1",
                {"type": "Degraded", "status": "True", "message": "sysctl x"},
            ),
            "warn",
            "node w0 has parts of performance-patch only: sysctl x",
        ),
        ("sriov-policies", (POLICY, "spec/numVfs", 4), "fail", "spec.numVfs is 4, not 2"),
        (
            "sriov-policies",
            (POLICY, "spec/nicSelector/rootDevices", ["0000:01:00.0"]),
            "warn",
            "spec.nicSelector has",
        ),
        (
            "sriov-node-states",
            (STATE, "status/interfaces/1/Vfs/1/driver", "iavf"),
            "fail",
            "ens1f0 of node w0: Vfs[1].driver is iavf, not vfio-pci",
        ),
        ("sriov-node-states", (STATE, "status/interfaces/1/mtu", 1500), "fail", "mtu is 1500, not"),
        (
            "sriov-node-states",
            (STATE, "status/interfaces/1/linkSpeed", "10000 Mb/s"),
            "fail",
            "linkSpeed is 10000 Mb/s, not 25000 Mb/s",
        ),
        (
            "sriov-node-states",
            (STATE, "status/interfaces/1/name", "ens2f0"),
            "fail",
            "node w0 has no port of nic east",
        ),
        ("sriov-node-states", (STATE, "status/syncStatus", "InProgress"), "warn", "still dividing"),
        (
            "sriov-node-states",
            (STATE, "status", {"syncStatus": "Failed", "lastSyncError": "no IOMMU"}),
            "fail",
            "node w0 cannot divide its ports: no IOMMU",
        ),
        ("networks", (NETWORK, "spec/trust", "off"), "fail", "spec.trust is off, not on"),
        (
            "networks",
            ("NetworkAttachmentDefinition", "metadata/annotations", {}),
            "fail",
            "NetworkAttachmentDefinition cnf/east-net is of no resource, not of openshift.io/east",
        ),
        (
            "cluster-services",
            ("ConfigMap", "data", {"config.yaml": "alertmanagerMain: {enabled: true}"}),
            "fail",
            'data["config.yaml"].alertmanagerMain.enabled is true, not false',
        ),
        (
            "cluster-services",
            ("Console", "spec/managementState", "Managed"),
            "fail",
            "spec.managementState is Managed, not Removed",
        ),
        ("nodes", (NODE, "status/conditions/0/status", "Unknown"), "fail", "node w0 is not ready"),
        ("nodes", (NODE, "spec", {"unschedulable": True}), "warn", "it is cordoned"),
        (
            "nodes",
            (NODE, "status/allocatable/hugepages-1Gi", "3Gi"),
            "fail",
            "node w0 has 3Gi of hugepages-1Gi (allocatable), not 4Gi",
        ),
        (
            "nodes",
            (NODE, "status/allocatable/cpu", "7"),
            "fail",
            "node w0 has 7 of cpu (allocatable), not 6",
        ),
        (
            "nodes",
            (NODE, "status/allocatable", {"cpu": "6", "hugepages-1Gi": "4Gi"}),
            "fail",
            "node w0 has 0 of openshift.io/east (allocatable), not 2",
        ),
        (
            "nodes",
            (NODE, "status/nodeInfo/kernelVersion", "5.14.0-427.el9.x86_64+rt"),
            "fail",
            "node w0 runs the kernel 5.14.0-427.el9.x86_64+rt",
        ),
        (
            "pods-declared",
            (POD, f"{CONTAINER}/resources/limits/memory", "2Gi"),
            "fail",
            "spec.containers[testpmd].resources.limits.memory is 2Gi, not 1000Mi",
        ),
        (
            "pods-declared",
            (POD, "metadata/annotations/cpu-quota.crio.io", None),
            "fail",
            'metadata.annotations["cpu-quota.crio.io"] is not set, and should be disable',
        ),
        (
            "pods-declared",
            (POD, "status/phase", "Succeeded"),
            "not-applicable",
            "no pod cnf/testpmd",
        ),
        (
            "pods-guaranteed",
            (POD, "status/qosClass", "Burstable"),
            "fail",
            "pod cnf/testpmd is Burstable, and so shares its CPUs",
        ),
        (
            "pods-guaranteed",
            (POD, f"{CONTAINER}/resources/requests/cpu", "3500m"),
            "fail",
            "asks for 3500m CPUs, which it shares",
        ),
        (
            "pods-guaranteed",
            (POD, f"{CONTAINER}/resources/requests/cpu", 3),
            "warn",
            "pod cnf/testpmd asks for 3 CPUs: of one core it gets one thread, or it is refused",
        ),
        (
            "pods-annotated",
            (POD, "spec/runtimeClassName", None),
            "fail",
            "pod cnf/testpmd has no runtime class, so CRI-O ignores its annotations",
        ),
        (
            "pods-annotated",
            (POD, "metadata/annotations/cpu-quota.crio.io", "disabled"),
            "fail",
            "pod cnf/testpmd says cpu-quota.crio.io: disabled, which CRI-O ignores",
        ),
        (
            "pods-annotated",
            (POD, "metadata/annotations/cpu-quota.crio.io", "true"),
            "warn",
            "which CRI-O gives up",
        ),
        (
            "pods-devices",
            (POD, f"{CONTAINER}/resources", {"requests": {"cpu": "4"}}),
            "fail",
            "pod cnf/testpmd joins 1 networks of openshift.io/east, and asks for 0",
        ),
        (
            "pods-devices",
            (POD, "metadata/annotations", {"k8s.v1.cni.cncf.io/networks": "other/west-net"}),
            "fail",
            "pod cnf/testpmd joins other/west-net, and there is no such",
        ),
        (
            "pods-devices",
            (POD, "metadata/annotations", {"k8s.v1.cni.cncf.io/networks": "[{"}),
            "fail",
            "in a form that Multus does not know: it is not JSON",
        ),
        (
            "pods-devices",
            (POD, "metadata/annotations", {"cpu-quota.crio.io": "disable"}),
            "warn",
            "asks for 1 of openshift.io/east, and 1 join no network",
        ),
        (
            "pods-probes",
            (POD, f"{CONTAINER}/livenessProbe", {"exec": {"command": ["true"]}}),
            "fail",
            "pod cnf/testpmd has exec probes: dpdk.livenessProbe",
        ),
        ("pods-probes", (POD, f"{CONTAINER}/livenessProbe", {"httpGet": {}}), "ok", "no probe"),
    ],
)
def test_one_thing_amiss(name: str, change: tuple[str, str, Any], verdict: str, text: str) -> None:
    finding = judged(name, cluster(change))
    assert (finding.verdict, text in finding.text) == (verdict, True), finding.text
    assert finding.group == "cluster"


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("performance-profile", PROFILE, "there is no PerformanceProfile fast"),
        ("machine-config-pool", POOL, "there is no MachineConfigPool dataplane"),
        ("machine-configs", "MachineConfig", "there is no MachineConfig 50-performance-fast"),
        ("kubelet-config", "KubeletConfig", "there is no KubeletConfig performance-fast"),
        ("runtime-class", "RuntimeClass", "there is no RuntimeClass performance-fast"),
        ("node-profiles", "Profile", "node w0 has no Profile"),
        ("sriov-policies", POLICY, "there is no SriovNetworkNodePolicy"),
        ("sriov-node-states", STATE, "node w0 has no SriovNetworkNodeState"),
        ("networks", "NetworkAttachmentDefinition", "has made no NetworkAttachmentDefinition"),
        ("cluster-services", "Console", "there is no Console cluster"),
    ],
)
def test_an_object_that_is_not_there_fails(name: str, kind: str, text: str) -> None:
    finding = judged(name, cluster(without=[kind]))
    assert (finding.verdict, text in finding.text) == ("fail", True), finding.text


@pytest.mark.parametrize("name", ["nodes", "node-profiles", "sriov-node-states"])
def test_a_pool_without_nodes_is_unknown_to_checks_of_nodes(name: str) -> None:
    finding = judged(name, cluster(without=[NODE]))
    assert finding.verdict == "unknown"
    assert finding.text == "a node with node-role.kubernetes.io/dataplane= does not exist"


@pytest.mark.parametrize(
    "name", ["pods-guaranteed", "pods-annotated", "pods-devices", "pods-probes"]
)
def test_checks_of_pods_do_not_apply_without_pods(name: str) -> None:
    assert judged(name, cluster(without=[POD])).verdict == "not-applicable"


def test_a_kind_that_the_cluster_does_not_have_says_which_operator_is_missing() -> None:
    view = SmallCluster(objects(), {"performanceprofiles": "absent"})
    finding = judged("performance-profile", view)
    assert finding.verdict == "fail"
    assert "the cluster has no kind performanceprofiles.performance.openshift.io" in finding.text
    assert "install the operator" in finding.steps[0].text


@pytest.mark.parametrize("cause", ["forbidden", "not-captured", "unreadable"])
def test_what_cannot_be_read_is_unknown(cause: UnreadCause) -> None:
    kinds = ("performanceprofiles", "pods", "nodes", "sriovnetworks")
    done = audit_cluster(SmallCluster(objects(), dict.fromkeys(kinds, cause)), intent())
    unknown = {each.name for each in done.findings if each.verdict == "unknown"}
    assert {"performance-profile", "pods-guaranteed", "nodes", "networks"} <= unknown
    assert done.counts["fail"] == 0
    assert done.kernel is None


def test_a_second_kubelet_config_for_the_pool_fails() -> None:
    finding = judged("kubelet-config", with_another("KubeletConfig", "cpumanager-enabled"))
    assert finding.verdict == "fail"
    assert "KubeletConfig cpumanager-enabled is for pool dataplane too" in finding.text


def test_a_kubelet_config_for_another_pool_does_not_matter() -> None:
    spec = {"machineConfigPoolSelector": {"matchLabels": {"pool": "other"}}}
    view = with_another("KubeletConfig", "other", spec=spec)
    assert judged("kubelet-config", view).verdict == "ok"


def test_an_attachment_without_the_operator_is_compared_by_itself() -> None:
    config = '{"type": "sriov", "resourceName": "openshift.io/east", "trust": "off"}'
    change = ("NetworkAttachmentDefinition", "spec/config", config)
    finding = judged("networks", cluster(change, without=[NETWORK]))
    assert finding.verdict == "fail"
    assert "spec.config.trust is off, not on" in finding.text
    assert "spec.config.deviceType is not set, and should be vfio-pci" in finding.text


def test_a_pod_of_a_controller_is_found_by_its_label() -> None:
    found = objects()[-1]
    found["metadata"] |= {"name": "testpmd-6f7", "labels": {"app": "testpmd"}}
    view = SmallCluster([*objects()[:-1], found])
    assert judged("pods-declared", view).verdict == "ok"


def test_any_pod_that_asks_for_the_effects_is_judged() -> None:
    """Not the intent's, of another namespace, and with annotations alone."""
    view = with_another(
        POD,
        "stray",
        metadata={"namespace": "other", "annotations": {"cpu-quota.crio.io": "disable"}},
        spec={"containers": [{"name": "a", "resources": {}}]},
        status={"qosClass": "BestEffort"},
    )
    assert "pod other/stray is BestEffort" in judged("pods-guaranteed", view).text
    assert "pod other/stray has no runtime class" in judged("pods-annotated", view).text


def test_a_pod_that_waits_is_reported_with_what_it_waits_for() -> None:
    unscheduled = {"type": "PodScheduled", "status": "False", "message": "Insufficient cpu."}
    view = cluster((POD, "status/phase", "Pending"), (POD, "status/conditions", [unscheduled]))
    finding = judged("pods-declared", view)
    assert finding.verdict == "warn"
    assert finding.text == "pod cnf/testpmd waits: Insufficient cpu."


def test_a_pod_that_waits_on_its_node_is_reported_with_what_its_containers_wait_for() -> None:
    waiting = [{"name": "dpdk", "state": {"waiting": {"reason": "ErrImagePull"}}}]
    view = cluster((POD, "status/phase", "Pending"), (POD, "status/containerStatuses", waiting))
    assert judged("pods-declared", view).text == "pod cnf/testpmd waits: ErrImagePull"
    silent = cluster((POD, "status/phase", "Pending"))
    text = "pod cnf/testpmd waits: it does not say for what"
    assert judged("pods-declared", silent).text == text


def test_a_pod_that_its_node_refused_fails() -> None:
    """As the kubelet's topology manager ends a pod for which no NUMA node has room."""
    message = "Resources cannot be allocated with Topology locality"
    view = cluster(
        (POD, "status/phase", "Failed"),
        (POD, "status/reason", "TopologyAffinityError"),
        (POD, "status/message", message),
    )
    finding = judged("pods-declared", view)
    assert finding.verdict == "fail"
    assert finding.text == (
        f"the node refused or evicted pod cnf/testpmd: TopologyAffinityError: {message}"
    )


def test_a_pod_whose_program_ended_is_over() -> None:
    finding = judged("pods-declared", cluster((POD, "status/phase", "Failed")))
    assert finding.verdict == "not-applicable"
    assert "no pod cnf/testpmd runs" in finding.text


def test_a_pod_that_runs_after_one_that_was_refused_is_judged_alone() -> None:
    refused = {"phase": "Failed", "reason": "SMTAlignmentError", "message": "not whole cores"}
    labels = {"app": "testpmd"}
    more = with_another(POD, "testpmd-0", status=refused, metadata={"labels": labels})
    assert judged("pods-declared", more).verdict == "ok"


def test_a_pod_meant_to_share_its_cpus_is_not_judged_for_it() -> None:
    shared = intent(pods=[{"name": "testpmd", "namespace": "cnf", "qos": "burstable", "cpus": 0.5}])
    finding = judged("pods-guaranteed", cluster((POD, "status/qosClass", "Burstable")), shared)
    assert finding.verdict == "not-applicable"


def test_odd_numbers_of_cpus_are_fine_without_smt() -> None:
    cpus = {"reserved": "0,1", "isolated": "2-7", "smt": "disabled"}
    view = cluster((POD, f"{CONTAINER}/resources/requests/cpu", "3"))
    assert judged("pods-guaranteed", view, intent(cpus=cpus)).verdict == "ok"


def test_many_of_a_kind_are_reported_shortly() -> None:
    found = objects()
    more = [found[-1] | {"metadata": {**found[-1]["metadata"], "name": f"p{n}"}} for n in range(20)]
    view = SmallCluster([*found[:-1], *(each | {"status": {}} for each in more)])
    finding = judged("pods-guaranteed", view)
    assert finding.text.count("of no QoS class") == 8
    assert finding.text.endswith("; and 12 more")


def test_what_the_intent_leaves_open_is_not_judged() -> None:
    little = {"kernel", "numa_policy", "hints", "nics", "networks", "pods", "services", "cluster"}
    bare = intent(**dict.fromkeys(little), hugepages=None)
    done = audit_cluster(
        cluster(
            (PROFILE, "spec/realTimeKernel", {"enabled": True}),
            (PROFILE, "spec/net", {"userLevelNetworking": True}),
            ("MachineConfig", "spec/kernelType", "realtime"),
            ("Profile", "spec/config/tunedProfile", "openshift-node-performance-fast"),
            ("Profile", "status/tunedProfile", "openshift-node-performance-fast"),
            ("Console", "spec/managementState", "Managed"),
            (NODE, "status/nodeInfo/kernelVersion", "5.14.0-427.el9.x86_64+rt"),
        ),
        bare,
    )
    assert {each.name for each in done.findings if each.verdict in ("fail", "warn")} == set()
    assert done.counts["unknown"] == 0


def test_the_checks_of_openshift_do_not_apply_to_other_platforms() -> None:
    done = audit_cluster(SmallCluster([]), load_preset("bare-metal"))
    assert {each.verdict for each in done.findings} == {"not-applicable"}
    assert "the intent is for bare-metal, not for OpenShift" in done.findings[0].text


@pytest.mark.parametrize("shape", ["text", 7, [1], None, {"a": None}, [[]], [{"type": "Degraded"}]])
@pytest.mark.parametrize("part", ["spec", "status", "metadata"])
def test_objects_of_any_shape_end_in_a_verdict(part: str, shape: Any) -> None:
    """Names stay, so that the objects are found and looked into."""
    given = objects()
    for each in given:
        if part != "metadata":
            each[part] = shape
        else:
            each["metadata"] |= {"labels": shape, "annotations": shape, "ownerReferences": shape}
    done = audit_cluster(SmallCluster(given), intent())
    assert len(done.findings) == len(all_cluster_checks())


def test_host_and_cluster_make_one_audit() -> None:
    of_cluster = audit_cluster(cluster(), intent())
    few = tuple(each for each in of_cluster.findings if each.number < 103)
    rest = tuple(each for each in of_cluster.findings if each.number >= 103)
    one = joined(
        audit_cluster(cluster(), intent(), [c for c in all_cluster_checks() if c.number >= 103]),
        audit_cluster(cluster(), intent(), [c for c in all_cluster_checks() if c.number < 103]),
    )
    assert one.findings == (*few, *rest)
    assert one.source == "a small cluster, a small cluster"


# As a telco reference has it: one object of several profiles, of which each pool's is
# recommended, and what is common in a profile of its own.
RENAMED = {
    "apiVersion": "tuned.openshift.io/v1",
    "kind": "Tuned",
    "metadata": {
        "name": "site-performance",
        "namespace": "openshift-cluster-node-tuning-operator",
    },
    "spec": {
        "profile": [
            {
                "name": "site-dataplane",
                "data": "[main]\ninclude=openshift-node-performance-fast,site-${f:lscpu_check:x}\n",
            },
            {"name": "site-x86", "data": "[service]\nservice.chronyd=stop,disable\n"},
        ],
        "recommend": [
            {
                "machineConfigLabels": {"machineconfiguration.openshift.io/role": "dataplane"},
                "priority": 18,
                "profile": "site-dataplane",
            }
        ],
    },
}


def renamed_cluster(*changes: tuple[str, str, Any]) -> SmallCluster:
    """The cluster whose patch has another name, on a node that runs it."""
    view = cluster(
        ("Profile", "spec/config/tunedProfile", "site-dataplane"),
        ("Profile", "status/tunedProfile", "site-dataplane"),
        without=["Tuned"],
    )
    given = copy.deepcopy(RENAMED)
    for path, value in ((path, value) for _, path, value in changes):
        *parents, last = path.split("/")
        place: Any = given
        for part in parents:
            place = place[int(part) if part.isdecimal() else part]
        place[int(last) if last.isdecimal() else last] = value
    return SmallCluster([*view.given, given])


def test_a_renamed_patch_is_the_patch() -> None:
    view = renamed_cluster()
    assert judged("tuned-patch", view).verdict == "ok"
    finding = judged("node-profiles", view)
    assert finding.verdict == "ok"
    assert "site-dataplane" in finding.read[0].what


def test_a_renamed_patch_that_lacks_a_setting_fails() -> None:
    view = renamed_cluster(("", "spec/profile/1/data", "[service]\nservice.chronyd=start"))
    finding = judged("tuned-patch", view)
    assert finding.verdict == "fail"
    assert "Tuned openshift-cluster-node-tuning-operator/site-performance" in finding.text
    assert "service.chronyd" in finding.text


def test_a_renamed_patch_of_another_profile_is_none() -> None:
    other = "[main]\ninclude=openshift-node-performance-slow\n"
    view = renamed_cluster(("", "spec/profile/0/data", other))
    assert "there is no Tuned" in judged("tuned-patch", view).text
    assert judged("node-profiles", view).verdict == "fail"


def test_the_intent_may_name_its_patch() -> None:
    named = intent(tuned={"name": "site-dataplane", "object": "site-performance", "priority": 18})
    flat = (
        "[main]\ninclude=openshift-node-performance-fast\n[service]\nservice.chronyd=stop,disable"
    )
    view = renamed_cluster(("", "spec/profile/0/data", flat))
    assert judged("tuned-patch", view, named).verdict == "ok"
    assert judged("node-profiles", view, named).verdict == "ok"
