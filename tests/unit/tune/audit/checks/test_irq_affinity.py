"""Check 33. Formats: Documentation/core-api/irq/irq-affinity.rst, sysfs-kernel-irq."""

import pytest

from plimsoll.tune.audit.checks.irq_affinity import CHECK
from tests.unit.tune.audit.hosts import commands, host_of_8
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.processes import KTHREADD, process
from tests.worded.says import Says


def irq(number: int, name: str, allowed: str, effective: str) -> dict[str, str]:
    return {
        f"/proc/irq/{number}/smp_affinity_list": f"{allowed}\n",
        f"/proc/irq/{number}/effective_affinity_list": f"{effective}\n",
        f"/sys/kernel/irq/{number}/actions": f"{name}\n",
    }


def test_all_on_reserved_cpus_is_ok() -> None:
    view = host_of_8(CHECK, irq(24, "eth0-rx-0", "0-1", "1"))
    assert CHECK.judge(view, intent()).verdict == "ok"


def test_one_on_an_isolated_cpu_fails(says: Says) -> None:
    view = host_of_8(CHECK, irq(24, "eth0-rx-0", "0-7", "5") | irq(25, "eth0-rx-1", "0-1", "0"))
    finding = CHECK.judge(view, intent())
    assert finding.verdict == "fail"
    assert finding.text == says("1", "24", "eth0-rx-0")
    assert commands(finding) == ["echo 0-1 > /proc/irq/24/smp_affinity_list"]


def test_one_that_may_come_is_warned(says: Says) -> None:
    finding = CHECK.judge(host_of_8(CHECK, irq(24, "eth0-rx-0", "0-7", "1")), intent())
    assert finding.verdict == "warn"
    assert finding.text == says("24")
    assert commands(finding) == ["echo 0-1 > /proc/irq/24/smp_affinity_list"]


def test_one_that_the_kernel_manages_cannot_be_moved_by_hand(says: Says) -> None:
    finding = CHECK.judge(host_of_8(CHECK, irq(30, "nvme0q3", "4", "4")), intent())
    assert finding.verdict == "warn"
    assert finding.text == says("30", "nvme0q3")
    assert commands(finding) == []
    # isolcpus=managed_irq: allowed there, and kept away all the same.
    assert CHECK.judge(host_of_8(CHECK, irq(30, "nvme0q3", "0,4", "0")), intent()).verdict == "ok"


def test_debugfs_knows_better_than_names() -> None:
    message = {"/sys/kernel/debug/irq/irqs/24": "handler: ...\n      IRQD_AFFINITY_MANAGED\n"}
    view = host_of_8(CHECK, irq(24, "mystery", "4", "4") | message)
    assert CHECK.judge(view, intent()).verdict == "warn"


def test_the_admin_queue_of_nvme_can_be_moved() -> None:
    assert CHECK.judge(host_of_8(CHECK, irq(29, "nvme0q0", "0-7", "3")), intent()).verdict == "fail"


def test_those_without_a_handler_do_not_count(says: Says) -> None:
    files = irq(9, "", "0-7", "5") | irq(24, "eth0-rx-0", "0-1", "1")
    finding = CHECK.judge(host_of_8(CHECK, files), intent())
    assert finding.verdict == "ok"
    assert finding.read[0].what == says("1", "0", "2-7")
    # No host has none at all: there the kernel does not tell.
    finding = CHECK.judge(host_of_8(CHECK, irq(9, "", "0-7", "5")), intent())
    assert finding.verdict == "unknown"
    assert "/sys/kernel/irq" in finding.text


@pytest.mark.parametrize("name", ["arch_timer", "arm-pmu", "kvm guest vtimer", "IPI"])
def test_what_each_arm_cpu_has_for_itself_is_no_device(name: str) -> None:
    """Private interrupts of the GIC have one number for all CPUs, and no effective affinity."""
    files = irq(11, name, "0-7", "") | irq(24, "eth0-rx-0", "0-1", "1")
    assert CHECK.judge(host_of_8(CHECK, files), intent()).verdict == "ok"


def test_the_chipsets_timer_stays_where_it_is() -> None:
    """IRQF_NOBALANCING: the kernel refuses what is written, and CPU 0 takes it."""
    files = irq(0, "timer", "0-7", "0") | irq(24, "eth0-rx-0", "0-1", "1")
    assert CHECK.judge(host_of_8(CHECK, files), intent()).verdict == "ok"


def test_debugfs_tells_those_of_each_cpu() -> None:
    message = {"/sys/kernel/debug/irq/irqs/24": "handler: ...\n      IRQD_PER_CPU\n"}
    files = irq(24, "mystery", "0-7", "") | irq(25, "eth0-rx-0", "0-1", "1") | message
    assert CHECK.judge(host_of_8(CHECK, files), intent()).verdict == "ok"


def test_a_kernel_without_effective_affinities() -> None:
    files = irq(24, "eth0-rx-0", "0-7", "")
    del files["/proc/irq/24/effective_affinity_list"]
    assert CHECK.judge(host_of_8(CHECK, files), intent()).verdict == "fail"


OPENSHIFT = {
    "platform": "openshift",
    "pool": {"role": "worker"},
    "expected_processes": ["dpdk-testpmd"],
    "pods": [
        {
            "name": "dpdk",
            "cpus": 2,
            "memory": "1Gi",
            "effects": {"irq_load_balancing": False},
        }
    ],
}


def test_on_openshift_only_the_cpus_of_pods_that_ask_count() -> None:
    pod = process(
        900, "dpdk-testpmd", cpus="0-7", cgroup="0::/", threads={901: ("lcore-worker-4", "4")}
    )
    view = host_of_8(CHECK, KTHREADD | pod | irq(24, "eth0-rx-0", "0-3,5-7", "5"))
    assert CHECK.judge(view, intent(**OPENSHIFT)).verdict == "ok"
    view = host_of_8(CHECK, KTHREADD | pod | irq(24, "eth0-rx-0", "0-7", "4"))
    assert CHECK.judge(view, intent(**OPENSHIFT)).verdict == "fail"
    view = host_of_8(CHECK, KTHREADD | irq(24, "eth0-rx-0", "0-7", "4"))
    assert CHECK.judge(view, intent(**OPENSHIFT)).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    files = irq(24, "eth0-rx-0", "0-1", "1")
    path = "/proc/irq/24/smp_affinity_list"
    del files[path]
    assert CHECK.judge(host_of_8(CHECK, files, forbidden=[path]), intent()).verdict == "unknown"
    assert CHECK.judge(host_of_8(CHECK, {}), intent()).verdict == "unknown"
