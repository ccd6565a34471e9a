"""The presets hold the values of the articles that they are named after, each of them."""

import base64
import json

import pytest

from plimsoll.errors import InputError
from plimsoll.tune.intent.cluster import (
    CpuManager,
    KubeletHousekeeping,
    Pool,
    ReducedMonitoring,
)
from plimsoll.tune.intent.hugepages import Hugepages, Pages, PodHugepages
from plimsoll.tune.intent.intent import Intent, Services
from plimsoll.tune.intent.load import load_preset, preset_names, preset_text
from plimsoll.tune.intent.network import SriovAttachment
from plimsoll.tune.intent.nic import Nic
from plimsoll.tune.intent.pod import Effects
from plimsoll.tune.intent.processor import Hints
from plimsoll.tune.intent.trex import Trex, TrexDualIf, TrexPort
from tests.worded.says import Says


@pytest.fixture(scope="module")
def deterministic() -> Intent:
    return load_preset("openshift-deterministic")


@pytest.fixture(scope="module")
def vdu() -> Intent:
    return load_preset("openshift-sno-vdu")


@pytest.fixture(scope="module")
def telco() -> Intent:
    return load_preset("telco-core-rds")


def test_there_are_five() -> None:
    assert preset_names() == (
        "bare-metal",
        "openshift-deterministic",
        "openshift-sno-vdu",
        "telco-core-rds",
        "vm",
    )


@pytest.mark.parametrize("name", preset_names())
def test_each_says_where_its_values_are_from(name: str) -> None:
    text = preset_text(name)
    assert text.startswith("# ")
    assert load_preset(name).description
    assert max(map(len, text.splitlines())) <= 110


@pytest.mark.parametrize("name", preset_names())
def test_no_pod_asks_for_all_capabilities(name: str) -> None:
    assert all("SYS_ADMIN" not in pod.capabilities for pod in load_preset(name).pods)


def test_another_is_unknown(says: Says) -> None:
    with pytest.raises(InputError) as caught:
        load_preset("VM")
    assert caught.value == says("VM")


class TestDeterministic:
    """*Build deterministic OpenShift dataplane performance with TRex*."""

    def test_the_performance_profile(self, deterministic: Intent) -> None:
        assert deterministic.name == "reghwol"
        assert deterministic.platform == "openshift"
        assert deterministic.kernel.arguments == (
            "nohz_full=2-39",
            "nmi_watchdog=0",
            "audit=0",
            "processor.max_cstate=1",
            "idle=poll",
            "intel_idle.max_cstate=0",
            "mce=off",
            "tsc=reliable",
            "rcu_nocb_poll",
            "rcupdate.rcu_normal_after_boot=0",
        )
        assert deterministic.cpus.isolated.text == "2-39"
        assert deterministic.cpus.reserved.text == "0,1"
        assert deterministic.irq.globally_disable_balancing is True
        assert deterministic.hugepages == Hugepages(
            default_size="1G", pages=(Pages(size="1G", count=16),)
        )
        assert deterministic.kernel.page_size == "4k"
        assert deterministic.user_level_networking is False
        assert deterministic.numa_policy == "single-numa-node"
        assert deterministic.kernel.realtime is False
        assert deterministic.hints == Hints(high_power=True, per_pod_power=False, realtime=False)

    def test_the_pool(self, deterministic: Intent) -> None:
        assert deterministic.pool == Pool(
            role="reghwol",
            selector={"machineconfiguration.openshift.io/role": "reghwol"},
            node_selector={"node-role.kubernetes.io/reghwol": ""},
        )

    def test_the_table_of_bios_settings(self, deterministic: Intent) -> None:
        bios = deterministic.bios
        assert (bios.smt, bios.turbo, bios.c_states, bios.aspm) == (False,) * 4
        assert bios.power_profile == "max-performance"
        assert deterministic.cpus.smt == "disabled"

    def test_the_ports_and_attachments(self, deterministic: Intent) -> None:
        east, west = deterministic.nics
        assert east == Nic(
            name="east",
            pf_names=("ens7f0",),
            num_vfs=1,
            driver="vfio-pci",
            mtu=9000,
            trust=True,
            spoofchk=True,
            resource_name="intelnic_east",
            link_speed_gbps=25,
        )
        differing = {"name": "west", "pf_names": ("ens7f1",), "resource_name": "intelnic_west"}
        assert west == east.model_copy(update=differing)
        assert deterministic.networks[0] == SriovAttachment(
            kind="sriov", name="east-sriov-net", nic="east"
        )

    def test_the_pod(self, deterministic: Intent) -> None:
        (pod,) = deterministic.pods
        requested = deterministic.resources_of(pod)
        # The article's excerpt has no memory, which a pod of its QoS class needs.
        assert requested.pop("memory") == "1000Mi"
        assert requested == {
            "cpu": "4",
            "hugepages-1Gi": "4Gi",
            "openshift.io/intelnic_east": "1",
            "openshift.io/intelnic_west": "1",
        }
        assert pod.qos == "guaranteed"
        assert deterministic.runtime_class_of(pod) == "performance-reghwol"

    def test_trex_cfg(self, deterministic: Intent) -> None:
        threads = (35, 33, 31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9)
        assert deterministic.generator.trex == Trex(
            ports=(
                TrexPort(pci="0000:87:00.0", ip="1.1.1.1", default_gw="2.2.2.2"),
                TrexPort(pci="0000:87:00.1", ip="2.2.2.2", default_gw="1.1.1.1"),
            ),
            dual_if=(TrexDualIf(socket=1, threads=threads),),
            latency_thread=37,
            master_thread=39,
            limit_memory_mb=2048,
            port_bandwidth_gb=25,
            arguments=(
                "-i",
                "--checksum-offload",
                "--iom",
                "0",
                "-v",
                "4",
                "--prefix",
                "trafficgen_trex_",
                "--close-at-end",
            ),
        )
        assert deterministic.generator.trex.threads_per_pair == 14


class TestSnoVdu:
    """*DPDK latency in OpenShift*, part 2; the hardware is in part 1."""

    def test_the_performance_profile(self, vdu: Intent) -> None:
        assert vdu.name == "performance-worker-pao-sno"
        assert vdu.kernel.arguments == (
            "nohz_full=2-15,18-31",
            "idle=poll",
            "rcu_nocb_poll",
            "nmi_watchdog=0",
            "audit=0",
            "mce=off",
            "processor.max_cstate=1",
            "intel_idle.max_cstate=0",
            "rcutree.kthread_prio=11",
            "rcupdate.rcu_normal_after_boot=0",
        )
        assert vdu.cpus.isolated.text == "2-15,18-31"
        assert vdu.cpus.reserved.text == "0-1,16-17"
        assert vdu.cpus.smt == "enabled"
        assert vdu.irq.globally_disable_balancing is True
        assert vdu.user_level_networking is True
        assert vdu.hugepages == Hugepages(default_size="1G", pages=(Pages(size="1G", count=20),))
        assert vdu.kernel.realtime is True
        assert vdu.numa_policy == "single-numa-node"
        assert vdu.hints == Hints()

    def test_the_profile_names_no_pool_and_the_rest_masters(self, vdu: Intent) -> None:
        assert vdu.pool is not None
        assert vdu.pool.selector is None
        assert vdu.pool.node_labels == {"node-role.kubernetes.io/master": ""}
        assert vdu.pool.machine_config_labels == {
            "machineconfiguration.openshift.io/role": "master"
        }

    def test_workload_partitioning_is_of_the_reserved_cpus(self, vdu: Intent) -> None:
        """The article's /etc/kubernetes/openshift-workload-pinning."""
        pinning = base64.b64decode(
            "ewogICJtYW5hZ2VtZW50IjogewogICAgImNwdXNldCI6ICIwLTEsMTYtMTciCiAgfQp9Cg=="
        )
        assert vdu.cluster.workload_partitioning is True
        assert json.loads(pinning) == {"management": {"cpuset": vdu.cpus.reserved.text}}

    def test_the_tuned_patch(self, vdu: Intent) -> None:
        assert vdu.kernel.tuned_bootloader == {"cmdline_crash": "nohz_full=2-15,18-31"}
        assert vdu.scheduling.timer_migration == 1
        assert vdu.services == Services(stalld=True, chronyd=False)

    def test_the_kubelet(self, vdu: Intent) -> None:
        assert vdu.cluster.cpu_manager == CpuManager(policy="static", reconcile_period_s=5)
        assert vdu.cluster.kubelet_housekeeping == KubeletHousekeeping(
            interval_s=30, max_interval_s=60, eviction_monitoring_period_s=30
        )

    def test_the_cluster_is_reduced(self, vdu: Intent) -> None:
        assert vdu.cluster.single_node is True
        assert vdu.cluster.reduced_monitoring == ReducedMonitoring(
            grafana=False, alertmanager=False, prometheus_retention="24h"
        )
        assert vdu.cluster.network_diagnostics is False
        assert vdu.cluster.console is False

    def test_the_pod(self, vdu: Intent) -> None:
        (pod,) = vdu.pods
        assert vdu.resources_of(pod) == {"cpu": "14", "memory": "1000Mi", "hugepages-1Gi": "12Gi"}
        assert pod.effects.annotations == {
            "cpu-quota.crio.io": "disable",
            "cpu-load-balancing.crio.io": "disable",
        }
        assert vdu.scheduling.fifo_priority == 2


class TestTelcoCore:
    """The article on the Telco Core RDS and a data plane workload on OpenShift 4.20."""

    def test_the_performance_profile(self, telco: Intent) -> None:
        assert telco.name == "customcnf"
        assert telco.cpus.isolated.text == "2-31,34-63"
        assert telco.cpus.reserved.text == "0,32,1,33"
        assert telco.irq.globally_disable_balancing is False
        assert telco.hugepages == Hugepages(
            default_size="1G",
            pages=(Pages(size="1G", count=160, node=0), Pages(size="1G", count=6, node=1)),
        )
        assert telco.numa_policy == "single-numa-node"
        assert telco.kernel.realtime is False
        assert telco.kernel.arguments == ()
        assert telco.hints == Hints(high_power=False, per_pod_power=True, realtime=False)
        assert telco.user_level_networking is False

    def test_the_pool(self, telco: Intent) -> None:
        assert telco.pool == Pool(
            role="worker",
            selector={"pools.operator.machineconfiguration.openshift.io/worker": ""},
            node_selector={"node-role.kubernetes.io/worker": ""},
        )

    def test_the_dpdk_pods(self, telco: Intent) -> None:
        (pod,) = telco.pods
        assert (pod.qos, pod.cpus, len(pod.networks)) == ("guaranteed", 2, 2)
        assert pod.hugepages == PodHugepages(size="1G", total="16Gi")
        assert pod.node_selector == {"node-role.kubernetes.io/worker-dpdk": ""}

    def test_the_card_is_an_xxv710(self, telco: Intent) -> None:
        (card,) = telco.nics
        assert (card.vendor, card.device_id, card.link_speed_gbps) == ("8086", "158b", 25)


@pytest.mark.parametrize("name", ["bare-metal", "vm"])
def test_hosts_of_no_platform_isolate_with_the_scheduler_and_tuned_s_settings(name: str) -> None:
    """The sysctls of tuned's cpu-partitioning profile; pods there are none."""
    intent = load_preset(name)
    assert (intent.platform, intent.pods, intent.pool) == (name, (), None)
    assert intent.cpus.balance_isolated is False
    scheduling = intent.scheduling
    assert (scheduling.timer_migration, scheduling.stat_interval_s) == (0, 10)
    assert scheduling.hung_task_timeout_s == 600
    services = intent.services
    assert (services.ksm, services.thp, services.swap, services.numa_balancing) == (False,) * 4


def test_a_pod_s_effects_are_all_three_where_interrupts_are_balanced(telco: Intent) -> None:
    assert telco.pods[0].effects == Effects(
        cpu_quota=False, cpu_load_balancing=False, irq_load_balancing=False
    )
