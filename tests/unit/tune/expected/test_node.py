"""Expectations by hand, from the golden files that test_operator_arguments.py names."""

from plimsoll.tune.expected.kubelet import crio_workload_partitioning, kubelet_workload_partitioning
from plimsoll.tune.expected.node import expected_node
from plimsoll.tune.expected.tuned_names import tuned_cpu_mask
from plimsoll.tune.intent.load import load_preset
from tests.unit.tune.intent_documents import HOST, POOL, intent_of, intent_with

DETERMINISTIC, SNO, CORE = (
    load_preset(name) for name in ("openshift-deterministic", "openshift-sno-vdu", "telco-core-rds")
)
# The fields of the golden default/manual_kubeletconfig.yaml that are not "not set".
GOLDEN_KUBELET = {
    "cpuManagerPolicy": "static",
    "cpuManagerPolicyOptions": {"full-pcpus-only": "true"},
    "cpuManagerReconcilePeriod": "5s",
    "evictionHard": {
        "imagefs.available": "15%",
        "memory.available": "100Mi",
        "nodefs.available": "10%",
        "nodefs.inodesFree": "5%",
    },
    "kubeReserved": {"memory": "500Mi"},
    "memoryManagerPolicy": "Static",
    "reservedMemory": [{"limits": {"memory": "1100Mi"}, "numaNode": 0}],
    "reservedSystemCPUs": "0",
    "systemReserved": {"memory": "500Mi"},
    "topologyManagerPolicy": "single-numa-node",
}


def test_masks_are_padded_as_tuned_pads_them() -> None:
    assert tuned_cpu_mask({0}) == "00000001"
    assert tuned_cpu_mask({0, 2, 3}) == "0000000d"
    assert tuned_cpu_mask({31}) == "80000000"
    assert tuned_cpu_mask({0, 33}) == "00000002,00000001"


def test_the_golden_kubelet() -> None:
    intent = intent_with(POOL, numa_policy="single-numa-node")
    assert expected_node(intent).kubelet == GOLDEN_KUBELET


def test_the_golden_kubelet_of_the_bootstrap_master_has_no_memory_manager() -> None:
    kubelet = expected_node(intent_with(POOL)).kubelet
    assert kubelet["topologyManagerPolicy"] == "best-effort"
    assert not {"memoryManagerPolicy", "reservedMemory", "cpuManagerPolicyOptions"} & set(kubelet)


def test_restricted_has_a_memory_manager_but_takes_single_threads() -> None:
    kubelet = expected_node(intent_with(POOL, numa_policy="restricted")).kubelet
    assert kubelet["memoryManagerPolicy"] == "Static"
    assert "cpuManagerPolicyOptions" not in kubelet


def test_the_kubelet_gets_the_short_list_of_cpus() -> None:
    assert expected_node(CORE).kubelet["reservedSystemCPUs"] == "0-1,32-33"


def test_crio() -> None:
    crio = expected_node(DETERMINISTIC).crio
    assert crio is not None
    assert (crio.runtime_class, crio.runtime_handler) == ("performance-reghwol", "high-performance")


def test_the_articles_workload_partitioning() -> None:
    # Decoded by hand from the article's base64.
    assert crio_workload_partitioning(SNO) == (
        "[crio.runtime.workloads.management]\n"
        'activation_annotation = "target.workload.openshift.io/management"\n'
        'annotation_prefix = "resources.workload.openshift.io"\n'
        'resources = { "cpushares" = 0, "cpuset" = "0-1,16-17" }\n\n'
    )
    assert kubelet_workload_partitioning(SNO) == (
        '{\n  "management": {\n    "cpuset": "0-1,16-17"\n  }\n}\n'
    )


def test_the_golden_sysctls() -> None:
    golden = {
        "kernel.hung_task_timeout_secs": "600",
        "kernel.nmi_watchdog": "0",
        "kernel.sched_rt_runtime_us": "-1",
        "kernel.timer_migration": "1",
        "net.ipv4.tcp_fastopen": "3",
        "vm.dirty_background_ratio": "3",
        "vm.dirty_ratio": "10",
        "vm.stat_interval": "10",
        "vm.swappiness": "10",
    }
    assert expected_node(intent_with(POOL, kernel={"realtime": True})).sysctls == golden


def test_without_the_realtime_kernel_numa_balancing_is_off_as_well() -> None:
    assert expected_node(DETERMINISTIC).sysctls["kernel.numa_balancing"] == "0"


def test_without_the_realtime_hint_realtime_tasks_are_bounded_and_stalld_is_off() -> None:
    node = expected_node(DETERMINISTIC)
    assert "kernel.sched_rt_runtime_us" not in node.sysctls
    assert node.units == {"fwupd-refresh.timer": False, "stalld": False}


def test_the_intents_own_settings_win() -> None:
    intent = intent_with(
        POOL,
        scheduling={"timer_migration": 0, "sysctls": {"vm.swappiness": "1"}},
        services={"stalld": False, "chronyd": False},
    )
    node = expected_node(intent)
    assert (node.sysctls["kernel.timer_migration"], node.sysctls["vm.swappiness"]) == ("0", "1")
    assert node.units == {"fwupd-refresh.timer": False, "stalld": False, "chronyd": False}


def test_the_active_profile() -> None:
    assert expected_node(SNO).tuned_profile == "performance-patch"
    assert expected_node(DETERMINISTIC).tuned_profile == "openshift-node-performance-reghwol"
    assert expected_node(intent_with(HOST)).tuned_profile is None
    on = intent_with(HOST, services={"tuned": True})
    assert expected_node(on).tuned_profile == "plimsoll-box"


def test_interrupts_where_they_are_kept_off() -> None:
    irqs = expected_node(DETERMINISTIC).irqs
    assert irqs.allowed == {0, 1}
    assert irqs.default_smp_affinity == "00000003"


def test_interrupts_where_pods_ask() -> None:
    irqs = expected_node(CORE).irqs
    assert irqs.allowed == frozenset(range(64))
    assert irqs.default_smp_affinity is None


def test_a_host_keeps_them_off_by_default() -> None:
    assert expected_node(intent_with(HOST)).irqs.allowed == {0}
    balanced = intent_with(HOST, irq={"globally_disable_balancing": False})
    assert expected_node(balanced).irqs.allowed == {0, 1, 2, 3}


def test_pages_on_nodes_are_a_services() -> None:
    (first, second) = expected_node(CORE).node_pages
    assert (first.node, first.count, second.node, second.count) == (0, 160, 1, 6)
    # The unit's name in the golden default/manual_machineconfig.yaml.
    assert first.operator_unit == "hugepages-allocation-1048576kB-NUMA0.service"
    assert second.sysfs == (
        "/sys/devices/system/node/node1/hugepages/hugepages-1048576kB/nr_hugepages"
    )


def test_a_host_has_no_kubelet() -> None:
    node = expected_node(
        intent_of(
            """
            {name: box, platform: vm, cpus: {reserved: 0, isolated: 1-3}}
            """
        )
    )
    assert (node.kubelet, node.crio, node.non_isolated_mask) == ({}, None, "00000001")
