"""Expectations are copied by hand from the Node Tuning Operator's golden files.

openshift/cluster-node-tuning-operator at commit d2394aa8: the profiles under
test/e2e/performanceprofile/cluster-setup, and what the operator made of them under
test/e2e/performanceprofile/testdata/render-expected-output; variables such as
${isolated_cores} filled in by hand. The four arguments before "nohz=on" are those of TuneD's
network-latency (redhat-performance/tuned at commit 2bfa4423; the last is in no older release
than 2.25, hence the brackets).
"""

import pytest

from plimsoll.tune.expected.kernel_argument import (
    KernelArgument,
    Vendor,
    command_line,
    last_of_each,
)
from plimsoll.tune.expected.operator_arguments import operator_arguments
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.load import load_preset
from tests.unit.tune.intent_documents import POOL, intent_of, intent_with

# manual-cluster/performance, which no-ref is made of too.
MANUAL = """
    name: manual
    platform: openshift
    pool: {role: worker-cnf}
    cpus: {reserved: "0", isolated: "1", offlined: "2,3"}
    hugepages:
      default_size: 1G
      pages:
        - {size: 1G, count: 1, node: 0}
        - {size: 2M, count: 128}
    kernel: {realtime: true}
    numa_policy: single-numa-node
    hints: {high_power: off, realtime: on, per_pod_power: off}
"""
# manual-cluster/arm.
ARM = """
    name: manual
    platform: openshift
    pool: {role: worker-cnf}
    cpus: {reserved: "0", isolated: "1", offlined: "2,3"}
    hugepages:
      default_size: 32M
      pages:
        - {size: 32M, count: 4, node: 0}
        - {size: 512M, count: 1}
    numa_policy: single-numa-node
    hints: {high_power: off, realtime: on, per_pod_power: off}
"""
# bootstrap-cluster/performance/pao_master.yaml: no hints at all.
MASTER = """
    name: openshift-bootstrap-master
    platform: openshift
    pool:
      role: master
      selector: {pools.operator.machineconfiguration.openshift.io/master: ""}
    cpus: {reserved: 2-7, isolated: 0-1}
"""
PARENT = [
    "skew_tick=1",
    "tsc=reliable",
    "rcupdate.rcu_normal_after_boot=1",
    "[rcutree.nohz_full_patience_delay=1000]",
]
# CPUs 2 and 3 are online until the operator's service has taken them offline.
PARTITIONED = [
    "nohz=on",
    "rcu_nocbs=1",
    "tuned.non_isolcpus=00000001|0000000d",
    "systemd.cpu_affinity=0|0,2,3",
]
OWN = ["nohz_full=1", "skew_tick=1", "isolcpus=managed_irq,1"]
REALTIME = ["nosoftlockup", "rcutree.kthread_prio=11"]


def words(intent: Intent, vendor: Vendor = "intel") -> list[str]:
    """In brackets those that only some releases have."""
    return command_line(operator_arguments(intent, vendor)).split()


def test_the_golden_default_on_intel() -> None:
    assert words(intent_of(MANUAL)) == [
        *PARENT,
        *PARTITIONED,
        "intel_iommu=on",
        "iommu=pt",
        "tsc=reliable",
        "nmi_watchdog=0",
        "mce=off",
        "intel_pstate=active|disable",
        *OWN,
        *REALTIME,
        "default_hugepagesz=1G",
        "hugepagesz=2M",
        "hugepages=128",
    ]


def test_the_golden_default_on_amd() -> None:
    assert words(intent_of(MANUAL), "amd") == [
        *PARENT,
        *PARTITIONED,
        "iommu=pt",
        "amd_pstate=guided",
        "tsc=reliable",
        "nmi_watchdog=0",
        "mce=off",
        *OWN,
        *REALTIME,
        "default_hugepagesz=1G",
        "hugepagesz=2M",
        "hugepages=128",
    ]


def test_the_golden_arm() -> None:
    assert words(intent_of(ARM), "arm") == [
        *PARENT,
        *PARTITIONED,
        "[iommu.passthrough=1]",
        *OWN,
        *REALTIME,
        "default_hugepagesz=32M",
        "hugepagesz=512M",
        "hugepages=1",
    ]


def test_the_golden_bootstrap_master_without_hints_is_realtime() -> None:
    assert words(intent_of(MASTER)) == [
        *PARENT,
        "nohz=on",
        "rcu_nocbs=0-1",
        "tuned.non_isolcpus=000000fc",
        "systemd.cpu_affinity=2,3,4,5,6,7",
        "intel_iommu=on",
        "iommu=pt",
        "tsc=reliable",
        "nmi_watchdog=0",
        "mce=off",
        "intel_pstate=active|disable",
        "nohz_full=0-1",
        "skew_tick=1",
        "isolcpus=managed_irq,0-1",
        *REALTIME,
    ]


# From the operator's tuned_test.go: the constants at its head, and the cases that use them.
@pytest.mark.parametrize(
    ("vendor", "realtime", "power"),
    [
        ("intel", True, ["processor.max_cstate=1", "intel_idle.max_cstate=0", "idle=poll"]),
        ("intel", False, ["processor.max_cstate=1", "intel_idle.max_cstate=0"]),
        ("amd", True, ["processor.max_cstate=1", "idle=poll"]),
        ("amd", False, ["processor.max_cstate=1"]),
        ("arm", True, []),
    ],
)
def test_high_power(vendor: Vendor, realtime: bool, power: list[str]) -> None:
    hints = {"realtime": realtime}
    without = words(intent_with(POOL, hints=hints), vendor)
    high = words(intent_with(POOL, hints=hints | {"high_power": True}), vendor)
    assert [word for word in high if word not in without] == power


@pytest.mark.parametrize(
    ("vendor", "pstate"), [("intel", "intel_pstate=passive"), ("amd", "amd_pstate=passive")]
)
def test_per_pod_power_lets_the_governor_decide(vendor: Vendor, pstate: str) -> None:
    assert pstate in words(intent_with(POOL, hints={"per_pod_power": True}), vendor)


def test_static_isolation() -> None:
    cpus = {"reserved": "0", "isolated": "4-5", "balance_isolated": False}
    assert "isolcpus=domain,managed_irq,4-5" in words(intent_with(POOL, cpus=cpus))


def test_small_pages_on_nodes_alone_are_made_known_to_the_kernel() -> None:
    hugepages = {
        "default_size": "1G",
        "pages": [{"size": "1G", "count": 4}, {"size": "2M", "count": 10, "node": 0}],
    }
    found = words(intent_with(POOL, hugepages=hugepages))
    expected = "default_hugepagesz=1G hugepagesz=1G hugepages=4 hugepagesz=2M hugepages=0"
    assert found[-5:] == expected.split()


def test_small_pages_by_default_need_no_such_hint() -> None:
    hugepages = {"default_size": "2M", "pages": [{"size": "2M", "count": 10, "node": 0}]}
    assert words(intent_with(POOL, hugepages=hugepages))[-1] == "default_hugepagesz=2M"


def test_the_profiles_arguments_come_after_the_operators_and_the_patchs_last() -> None:
    found = words(load_preset("openshift-sno-vdu"))
    # The article's additionalKernelArgs, then its [bootloader] cmdline_crash.
    assert found[-11:] == [
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
        "nohz_full=2-15,18-31",
    ]


def test_the_last_of_a_name_counts_except_for_pages() -> None:
    found = last_of_each(operator_arguments(load_preset("openshift-sno-vdu")))
    texts = [argument.text for argument in found]
    assert "rcupdate.rcu_normal_after_boot=0" in texts
    assert "rcupdate.rcu_normal_after_boot=1" not in texts
    assert texts.count("nohz_full=2-15,18-31") == 1
    # CPUs 0, 1, 16 and 17: 0x30003.
    assert "tuned.non_isolcpus=00030003" in texts
    assert "systemd.cpu_affinity=0,1,16,17" in texts


def test_sizes_of_pages_are_all_kept() -> None:
    line = [KernelArgument("hugepagesz", (size,), "") for size in ("1G", "2M")]
    assert last_of_each(line) == tuple(line)


def test_dashes_and_underscores_are_one_to_the_kernel() -> None:
    line = [KernelArgument("a-b", ("1",), ""), KernelArgument("a_b", ("2",), "")]
    assert last_of_each(line) == (line[1],)


def test_pages_of_the_telco_reference_are_on_nodes_and_so_not_on_the_line() -> None:
    found = words(load_preset("telco-core-rds"))
    assert found[-1] == "default_hugepagesz=1G"
    # 64 CPUs, reserved 0, 1, 32, 33: two groups of 32 bits.
    assert "tuned.non_isolcpus=00000003,00000003" in found
