"""Every check of a cluster: the healthy one, and what is said when one thing is amiss."""

import copy
from typing import Any

import pytest

from plimsoll.tune.audit.finding import CheckFinding
from plimsoll.tune.cluster.cluster_audit import all_cluster_checks, audit_cluster, joined
from plimsoll.tune.cluster.object_judgement import ClusterView
from plimsoll.tune.host.view.unread import UnreadCause
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.load import load_preset
from tests.unit.tune.cluster.clusters import SmallCluster, cluster, intent, objects, with_another
from tests.worded.says import Says

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
    ("name", "change", "verdict", "facts"),
    [
        (
            "performance-profile",
            (PROFILE, "spec/cpu/isolated", "2-5"),
            "fail",
            ("PerformanceProfile", "spec.cpu.isolated", "2-5", "2-7"),
        ),
        (
            "performance-profile",
            (PROFILE, "spec/additionalKernelArgs", ["audit=0", "quiet"]),
            "warn",
            ("spec.additionalKernelArgs", "quiet"),
        ),
        (
            "performance-profile",
            (PROFILE, "spec/numa", None),
            "fail",
            ("spec.numa.topologyPolicy",),
        ),
        (
            "performance-profile",
            (PROFILE, "spec/realTimeKernel", {"enabled": True}),
            "fail",
            ("spec.realTimeKernel.enabled",),
        ),
        (
            "performance-profile",
            (PROFILE, "status/conditions/1", {"type": "Degraded", "status": "True"}),
            "fail",
            ("PerformanceProfile",),
        ),
        (
            "machine-config-pool",
            (POOL, "status/updatedMachineCount", 0),
            "warn",
            ("0", "1"),
        ),
        ("machine-config-pool", (POOL, "status/machineCount", 0), "fail", ("MachineConfigPool",)),
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
            ("node", "w0", "disk", "full"),
        ),
        (
            "machine-configs",
            (POOL, "status/configuration/source", [{"name": "00-worker"}]),
            "fail",
            ("50-performance-fast",),
        ),
        (
            "machine-configs",
            ("MachineConfig", "spec/kernelType", "realtime"),
            "fail",
            ("realtime",),
        ),
        (
            "kubelet-config",
            ("KubeletConfig", "spec/kubeletConfig/topologyManagerPolicy", "none"),
            "fail",
            ("spec.kubeletConfig.topologyManagerPolicy",),
        ),
        ("runtime-class", ("RuntimeClass", "handler", "runc"), "fail", ("handler", "runc")),
        (
            "tuned-patch",
            ("Tuned", "spec/profile/0/data", "[service]\nservice.chronyd=start"),
            "fail",
            ("spec.profile[performance-patch].data.main.include",),
        ),
        (
            "node-profiles",
            ("Profile", "status/tunedProfile", "openshift-node"),
            "fail",
            ("w0", "openshift-node"),
        ),
        (
            "node-profiles",
            (
                "Profile",
                "status/conditions/1",
                {"type": "Degraded", "status": "True", "message": "sysctl x"},
            ),
            "warn",
            ("w0", "sysctl", "sysctl x"),
        ),
        ("sriov-policies", (POLICY, "spec/numVfs", 4), "fail", ("spec.numVfs", "4", "2")),
        (
            "sriov-policies",
            (POLICY, "spec/nicSelector/rootDevices", ["0000:01:00.0"]),
            "warn",
            ("spec.nicSelector",),
        ),
        (
            "sriov-node-states",
            (STATE, "status/interfaces/1/Vfs/1/driver", "iavf"),
            "fail",
            ("ens1f0", "w0", "Vfs[1].driver", "iavf"),
        ),
        ("sriov-node-states", (STATE, "status/interfaces/1/mtu", 1500), "fail", ("mtu", "1500")),
        (
            "sriov-node-states",
            (STATE, "status/interfaces/1/linkSpeed", "10000 Mb/s"),
            "fail",
            ("linkSpeed", "10000", "Mb/s", "25000"),
        ),
        (
            "sriov-node-states",
            (STATE, "status/interfaces/1/name", "ens2f0"),
            "fail",
            ("w0",),
        ),
        ("sriov-node-states", (STATE, "status/syncStatus", "InProgress"), "warn", ("w0",)),
        (
            "sriov-node-states",
            (STATE, "status", {"syncStatus": "Failed", "lastSyncError": "no IOMMU"}),
            "fail",
            ("w0", "IOMMU"),
        ),
        ("networks", (NETWORK, "spec/trust", "off"), "fail", ("spec.trust",)),
        (
            "networks",
            ("NetworkAttachmentDefinition", "metadata/annotations", {}),
            "fail",
            ("NetworkAttachmentDefinition", "cnf/east-net", "openshift.io/east"),
        ),
        (
            "cluster-services",
            ("ConfigMap", "data", {"config.yaml": "alertmanagerMain: {enabled: true}"}),
            "fail",
            ('data["config.yaml"].alertmanagerMain.enabled',),
        ),
        (
            "cluster-services",
            ("Console", "spec/managementState", "Managed"),
            "fail",
            ("spec.managementState", "Managed"),
        ),
        ("nodes", (NODE, "status/conditions/0/status", "Unknown"), "fail", ("w0",)),
        ("nodes", (NODE, "spec", {"unschedulable": True}), "warn", ("w0",)),
        (
            "nodes",
            (NODE, "status/allocatable/hugepages-1Gi", "3Gi"),
            "fail",
            ("w0", "3Gi", "hugepages-1Gi", "allocatable", "4Gi"),
        ),
        (
            "nodes",
            (NODE, "status/allocatable/cpu", "7"),
            "fail",
            ("w0", "7", "cpu", "allocatable", "6"),
        ),
        (
            "nodes",
            (NODE, "status/allocatable", {"cpu": "6", "hugepages-1Gi": "4Gi"}),
            "fail",
            ("w0", "0", "openshift.io/east", "allocatable", "2"),
        ),
        (
            "nodes",
            (NODE, "status/nodeInfo/kernelVersion", "5.14.0-427.el9.x86_64+rt"),
            "fail",
            ("w0", "5.14.0-427.el9.x86_64+rt"),
        ),
        (
            "pods-declared",
            (POD, f"{CONTAINER}/resources/limits/memory", "2Gi"),
            "fail",
            ("spec.containers[testpmd].resources.limits.memory", "2Gi", "1000Mi"),
        ),
        (
            "pods-declared",
            (POD, "metadata/annotations/cpu-quota.crio.io", None),
            "fail",
            ('metadata.annotations["cpu-quota.crio.io"]',),
        ),
        (
            "pods-declared",
            (POD, "status/phase", "Succeeded"),
            "not-applicable",
            ("cnf/testpmd",),
        ),
        (
            "pods-guaranteed",
            (POD, "status/qosClass", "Burstable"),
            "fail",
            ("cnf/testpmd", "Burstable"),
        ),
        (
            "pods-guaranteed",
            (POD, f"{CONTAINER}/resources/requests/cpu", "3500m"),
            "fail",
            ("3500m",),
        ),
        (
            "pods-guaranteed",
            (POD, f"{CONTAINER}/resources/requests/cpu", 3),
            "warn",
            ("cnf/testpmd", "3"),
        ),
        (
            "pods-annotated",
            (POD, "spec/runtimeClassName", None),
            "fail",
            ("cnf/testpmd",),
        ),
        (
            "pods-annotated",
            (POD, "metadata/annotations/cpu-quota.crio.io", "disabled"),
            "fail",
            ("cnf/testpmd", "cpu-quota.crio.io", "disabled"),
        ),
        (
            "pods-annotated",
            (POD, "metadata/annotations/cpu-quota.crio.io", "true"),
            "warn",
            ("cnf/testpmd", "cpu-quota.crio.io"),
        ),
        (
            "pods-devices",
            (POD, f"{CONTAINER}/resources", {"requests": {"cpu": "4"}}),
            "fail",
            ("cnf/testpmd", "1", "openshift.io/east", "0"),
        ),
        (
            "pods-devices",
            (POD, "metadata/annotations", {"k8s.v1.cni.cncf.io/networks": "other/west-net"}),
            "fail",
            ("cnf/testpmd", "other/west-net"),
        ),
        (
            "pods-devices",
            (POD, "metadata/annotations", {"k8s.v1.cni.cncf.io/networks": "[{"}),
            "fail",
            ("cnf/testpmd",),
        ),
        (
            "pods-devices",
            (POD, "metadata/annotations", {"cpu-quota.crio.io": "disable"}),
            "warn",
            ("1", "openshift.io/east"),
        ),
        (
            "pods-probes",
            (POD, f"{CONTAINER}/livenessProbe", {"exec": {"command": ["true"]}}),
            "fail",
            ("cnf/testpmd", "exec", "dpdk.livenessProbe"),
        ),
        ("pods-probes", (POD, f"{CONTAINER}/livenessProbe", {"httpGet": {}}), "ok", ()),
    ],
)
def test_one_thing_amiss(
    name: str, change: tuple[str, str, Any], verdict: str, facts: tuple[str, ...], says: Says
) -> None:
    finding = judged(name, cluster(change))
    assert finding.verdict == verdict
    assert finding.text == says(*facts)
    assert finding.group == "cluster"


@pytest.mark.parametrize(
    ("name", "kind", "facts"),
    [
        ("performance-profile", PROFILE, ("PerformanceProfile",)),
        ("machine-config-pool", POOL, ("MachineConfigPool",)),
        ("machine-configs", "MachineConfig", ("MachineConfig", "50-performance-fast")),
        ("kubelet-config", "KubeletConfig", ("KubeletConfig",)),
        ("runtime-class", "RuntimeClass", ("RuntimeClass",)),
        ("node-profiles", "Profile", ("w0", "Profile")),
        ("sriov-policies", POLICY, ("SriovNetworkNodePolicy",)),
        ("sriov-node-states", STATE, ("w0", "SriovNetworkNodeState")),
        ("networks", "NetworkAttachmentDefinition", ("NetworkAttachmentDefinition",)),
        ("cluster-services", "Console", ("Console",)),
    ],
)
def test_an_object_that_is_not_there_fails(
    name: str, kind: str, facts: tuple[str, ...], says: Says
) -> None:
    finding = judged(name, cluster(without=[kind]))
    assert finding.verdict == "fail"
    assert finding.text == says(*facts)


@pytest.mark.parametrize("name", ["nodes", "node-profiles", "sriov-node-states"])
def test_a_pool_without_nodes_is_unknown_to_checks_of_nodes(name: str, says: Says) -> None:
    finding = judged(name, cluster(without=[NODE]))
    assert finding.verdict == "unknown"
    assert finding.text == says("node-role.kubernetes.io/dataplane=")


@pytest.mark.parametrize(
    "name", ["pods-guaranteed", "pods-annotated", "pods-devices", "pods-probes"]
)
def test_checks_of_pods_do_not_apply_without_pods(name: str) -> None:
    assert judged(name, cluster(without=[POD])).verdict == "not-applicable"


def test_a_kind_that_the_cluster_does_not_have_says_which_operator_is_missing(says: Says) -> None:
    view = SmallCluster(objects(), {"performanceprofiles": "absent"})
    finding = judged("performance-profile", view)
    assert finding.verdict == "fail"
    assert finding.text == says("performanceprofiles.performance.openshift.io")
    assert finding.steps[0].text == says("performanceprofiles.performance.openshift.io")


@pytest.mark.parametrize("cause", ["forbidden", "not-captured", "unreadable"])
def test_what_cannot_be_read_is_unknown(cause: UnreadCause) -> None:
    kinds = ("performanceprofiles", "pods", "nodes", "sriovnetworks")
    done = audit_cluster(SmallCluster(objects(), dict.fromkeys(kinds, cause)), intent())
    unknown = {each.name for each in done.findings if each.verdict == "unknown"}
    assert {"performance-profile", "pods-guaranteed", "nodes", "networks"} <= unknown
    assert done.counts["fail"] == 0
    assert done.kernel is None


def test_a_second_kubelet_config_for_the_pool_fails(says: Says) -> None:
    finding = judged("kubelet-config", with_another("KubeletConfig", "cpumanager-enabled"))
    assert finding.verdict == "fail"
    assert finding.text == says("KubeletConfig", "cpumanager-enabled")


def test_a_kubelet_config_for_another_pool_does_not_matter() -> None:
    spec = {"machineConfigPoolSelector": {"matchLabels": {"pool": "other"}}}
    view = with_another("KubeletConfig", "other", spec=spec)
    assert judged("kubelet-config", view).verdict == "ok"


def test_an_attachment_without_the_operator_is_compared_by_itself(says: Says) -> None:
    config = '{"type": "sriov", "resourceName": "openshift.io/east", "trust": "off"}'
    change = ("NetworkAttachmentDefinition", "spec/config", config)
    finding = judged("networks", cluster(change, without=[NETWORK]))
    assert finding.verdict == "fail"
    assert finding.text == says("spec.config.trust", "spec.config.deviceType")


def test_a_pod_of_a_controller_is_found_by_its_label() -> None:
    found = objects()[-1]
    found["metadata"] |= {"name": "testpmd-6f7", "labels": {"app": "testpmd"}}
    view = SmallCluster([*objects()[:-1], found])
    assert judged("pods-declared", view).verdict == "ok"


def test_any_pod_that_asks_for_the_effects_is_judged(says: Says) -> None:
    """Not the intent's, of another namespace, and with annotations alone."""
    view = with_another(
        POD,
        "stray",
        metadata={"namespace": "other", "annotations": {"cpu-quota.crio.io": "disable"}},
        spec={"containers": [{"name": "a", "resources": {}}]},
        status={"qosClass": "BestEffort"},
    )
    assert "pod other/stray is BestEffort" in judged("pods-guaranteed", view).text
    assert judged("pods-annotated", view).text == says("pod", "other/stray")


def test_a_pod_that_waits_is_reported_with_what_it_waits_for(says: Says) -> None:
    unscheduled = {"type": "PodScheduled", "status": "False", "message": "Insufficient cpu."}
    view = cluster((POD, "status/phase", "Pending"), (POD, "status/conditions", [unscheduled]))
    finding = judged("pods-declared", view)
    assert finding.verdict == "warn"
    assert finding.text == says("cnf/testpmd", "Insufficient", "cpu")


def test_a_pod_that_waits_on_its_node_is_reported_with_what_its_containers_wait_for() -> None:
    waiting = [{"name": "dpdk", "state": {"waiting": {"reason": "ErrImagePull"}}}]
    view = cluster((POD, "status/phase", "Pending"), (POD, "status/containerStatuses", waiting))
    assert judged("pods-declared", view).text == "pod cnf/testpmd waits: ErrImagePull"
    silent = cluster((POD, "status/phase", "Pending"))
    text = "pod cnf/testpmd waits: it does not say for what"
    assert judged("pods-declared", silent).text == text


def test_a_pod_that_its_node_refused_fails(says: Says) -> None:
    """As the kubelet's topology manager ends a pod for which no NUMA node has room."""
    message = "Resources cannot be allocated with Topology locality"
    view = cluster(
        (POD, "status/phase", "Failed"),
        (POD, "status/reason", "TopologyAffinityError"),
        (POD, "status/message", message),
    )
    finding = judged("pods-declared", view)
    assert finding.verdict == "fail"
    assert finding.text == says("cnf/testpmd", "TopologyAffinityError", str(message))


def test_a_pod_whose_program_ended_is_over(says: Says) -> None:
    finding = judged("pods-declared", cluster((POD, "status/phase", "Failed")))
    assert finding.verdict == "not-applicable"
    assert finding.text == says("cnf/testpmd")


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


def test_many_of_a_kind_are_reported_shortly(says: Says) -> None:
    found = objects()
    more = [found[-1] | {"metadata": {**found[-1]["metadata"], "name": f"p{n}"}} for n in range(20)]
    view = SmallCluster([*found[:-1], *(each | {"status": {}} for each in more)])
    finding = judged("pods-guaranteed", view)
    assert finding.text.count("; ") == 8
    assert finding.text == says("12")


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


def test_the_checks_of_openshift_do_not_apply_to_other_platforms(says: Says) -> None:
    done = audit_cluster(SmallCluster([]), load_preset("bare-metal"))
    assert {each.verdict for each in done.findings} == {"not-applicable"}
    assert done.findings[0].text == says("bare-metal", "OpenShift")


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


def test_host_and_cluster_make_one_audit(says: Says) -> None:
    of_cluster = audit_cluster(cluster(), intent())
    few = tuple(each for each in of_cluster.findings if each.number < 103)
    rest = tuple(each for each in of_cluster.findings if each.number >= 103)
    one = joined(
        audit_cluster(cluster(), intent(), [c for c in all_cluster_checks() if c.number >= 103]),
        audit_cluster(cluster(), intent(), [c for c in all_cluster_checks() if c.number < 103]),
    )
    assert one.findings == (*few, *rest)
    assert one.source == says()


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


def test_a_renamed_patch_of_another_profile_is_none(says: Says) -> None:
    other = "[main]\ninclude=openshift-node-performance-slow\n"
    view = renamed_cluster(("", "spec/profile/0/data", other))
    assert judged("tuned-patch", view).text == says(
        "openshift-cluster-node-tuning-operator/performance-patch"
    )
    assert judged("node-profiles", view).verdict == "fail"


def test_the_intent_may_name_its_patch() -> None:
    named = intent(tuned={"name": "site-dataplane", "object": "site-performance", "priority": 18})
    flat = (
        "[main]\ninclude=openshift-node-performance-fast\n[service]\nservice.chronyd=stop,disable"
    )
    view = renamed_cluster(("", "spec/profile/0/data", flat))
    assert judged("tuned-patch", view, named).verdict == "ok"
    assert judged("node-profiles", view, named).verdict == "ok"
