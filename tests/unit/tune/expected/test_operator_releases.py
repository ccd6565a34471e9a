"""Lines that releases of the operator really made of our performance profiles.

Copied from what openshift/cluster-node-tuning-operator, built at the commit named, printed for
the profile that is rendered from the intent (its subcommand render), when TuneD's own library
loaded the Tuned object: redhat-performance/tuned at commit 35eed3ca (2.24), where a line has
rcutree.nohz_full_patience_delay at 2bfa4423 (2.28.0-rc.1). The CPUs of the intent were online.
Intel's is Ice Lake where intel_pstate is active, Skylake where it is disabled.
"""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.tune.expected.kernel_argument import Vendor, last_of_each
from plimsoll.tune.expected.node import expected_node
from plimsoll.tune.expected.operator_arguments import operator_arguments
from plimsoll.tune.intent.load import load_preset
from tests.unit.tune.expected.printed_line import disagreements
from tests.unit.tune.intent_documents import POOL, intent_with

DETERMINISTIC, SNO, CORE = "openshift-deterministic", "openshift-sno-vdu", "telco-core-rds"
R416 = "release-4.16 at 26411b22"
R418 = "release-4.18 at cb375d17"
R420 = "release-4.20 at e09eb8ea"
R51 = "release-5.1 at d2394aa8"

PRESETS: list[tuple[str, str, Vendor, str]] = [
    (
        R418,
        DETERMINISTIC,
        "intel",
        "skew_tick=1 tsc=reliable rcupdate.rcu_normal_after_boot=1 nohz=on rcu_nocbs=2-39 "
        "tuned.non_isolcpus=00000003 systemd.cpu_affinity=0,1 intel_iommu=on iommu=pt "
        "isolcpus=managed_irq,2-39 processor.max_cstate=1 intel_idle.max_cstate=0 "
        "default_hugepagesz=1G hugepagesz=1G hugepages=16 intel_pstate=disable "
        "nohz_full=2-39 nmi_watchdog=0 audit=0 processor.max_cstate=1 idle=poll "
        "intel_idle.max_cstate=0 mce=off tsc=reliable rcu_nocb_poll "
        "rcupdate.rcu_normal_after_boot=0",
    ),
    (
        R51,
        DETERMINISTIC,
        "amd",
        "skew_tick=1 tsc=reliable rcupdate.rcu_normal_after_boot=1 "
        "rcutree.nohz_full_patience_delay=1000 nohz=on rcu_nocbs=2-39 "
        "tuned.non_isolcpus=00000003 systemd.cpu_affinity=0,1 iommu=pt amd_pstate=guided "
        "processor.max_cstate=1 nohz_full=2-39 skew_tick=1 isolcpus=managed_irq,2-39 "
        "default_hugepagesz=1G hugepagesz=1G hugepages=16 nohz_full=2-39 nmi_watchdog=0 "
        "audit=0 processor.max_cstate=1 idle=poll intel_idle.max_cstate=0 mce=off "
        "tsc=reliable rcu_nocb_poll rcupdate.rcu_normal_after_boot=0",
    ),
    (
        R418,
        SNO,
        "intel",
        "skew_tick=1 tsc=reliable rcupdate.rcu_normal_after_boot=1 nohz=on "
        "rcu_nocbs=2-15,18-31 tuned.non_isolcpus=00030003 systemd.cpu_affinity=0,1,16,17 "
        "intel_iommu=on iommu=pt isolcpus=managed_irq,2-15,18-31 nohz_full=2-15,18-31 "
        "tsc=reliable nosoftlockup nmi_watchdog=0 mce=off skew_tick=1 rcutree.kthread_prio=11 "
        "default_hugepagesz=1G hugepagesz=1G hugepages=20 intel_pstate=disable "
        "nohz_full=2-15,18-31 idle=poll rcu_nocb_poll nmi_watchdog=0 audit=0 mce=off "
        "processor.max_cstate=1 intel_idle.max_cstate=0 rcutree.kthread_prio=11 "
        "rcupdate.rcu_normal_after_boot=0 nohz_full=2-15,18-31",
    ),
    (
        R418,
        CORE,
        "intel",
        "skew_tick=1 tsc=reliable rcupdate.rcu_normal_after_boot=1 nohz=on "
        "rcu_nocbs=2-31,34-63 tuned.non_isolcpus=00000003,00000003 "
        "systemd.cpu_affinity=0,1,32,33 intel_iommu=on iommu=pt "
        "isolcpus=managed_irq,2-31,34-63 default_hugepagesz=1G intel_pstate=passive",
    ),
    (
        R420,
        CORE,
        "intel",
        "skew_tick=1 tsc=reliable rcupdate.rcu_normal_after_boot=1 nohz=on "
        "rcu_nocbs=2-31,34-63 tuned.non_isolcpus=00000003,00000003 "
        "systemd.cpu_affinity=0,1,32,33 intel_iommu=on iommu=pt "
        "isolcpus=managed_irq,2-31,34-63 default_hugepagesz=1G intel_pstate=passive",
    ),
    (
        R420,
        SNO,
        "intel",
        "skew_tick=1 tsc=reliable rcupdate.rcu_normal_after_boot=1 nohz=on "
        "rcu_nocbs=2-15,18-31 tuned.non_isolcpus=00030003 systemd.cpu_affinity=0,1,16,17 "
        "intel_iommu=on iommu=pt isolcpus=managed_irq,2-15,18-31 nohz_full=2-15,18-31 "
        "tsc=reliable nosoftlockup nmi_watchdog=0 mce=off skew_tick=1 rcutree.kthread_prio=11 "
        "default_hugepagesz=1G hugepagesz=1G hugepages=20 intel_pstate=disable "
        "nohz_full=2-15,18-31 idle=poll rcu_nocb_poll nmi_watchdog=0 audit=0 mce=off "
        "processor.max_cstate=1 intel_idle.max_cstate=0 rcutree.kthread_prio=11 "
        "rcupdate.rcu_normal_after_boot=0 nohz_full=2-15,18-31",
    ),
    (
        R51,
        CORE,
        "intel",
        "skew_tick=1 tsc=reliable rcupdate.rcu_normal_after_boot=1 "
        "rcutree.nohz_full_patience_delay=1000 nohz=on rcu_nocbs=2-31,34-63 "
        "tuned.non_isolcpus=00000003,00000003 systemd.cpu_affinity=0,1,32,33 "
        "intel_iommu=on iommu=pt intel_pstate=passive nohz_full=2-31,34-63 skew_tick=1 "
        "isolcpus=managed_irq,2-31,34-63 default_hugepagesz=1G",
    ),
]

# Reserved 0-1 and 32-33, isolated 2-31 and 34-63, unless the intent has others.
CPUS = {"cpus": {"reserved": "0-1,32-33", "isolated": "2-31,34-63"}}
COMMON = (
    "skew_tick=1 tsc=reliable rcupdate.rcu_normal_after_boot=1 nohz=on rcu_nocbs=2-31,34-63 "
    "tuned.non_isolcpus=00000003,00000003 systemd.cpu_affinity=0,1,32,33"
)
VARIANTS: list[tuple[str, dict[str, Any], Vendor, str]] = [
    (
        R418,
        {"hints": {"realtime": False}},
        "arm",
        f"{COMMON} iommu.passthrough=1 isolcpus=managed_irq,2-31,34-63",
    ),
    (
        R416,
        {"hints": {"realtime": False, "high_power": True}},
        "amd",
        f"{COMMON} iommu=pt amd_pstate=guided processor.max_cstate=1 "
        "isolcpus=managed_irq,2-31,34-63",
    ),
    (
        R416,
        {
            "hints": {"realtime": False},
            "cpus": {"reserved": "0,4", "isolated": "1-3,5", "offlined": "6-7"},
        },
        "intel",
        "skew_tick=1 tsc=reliable rcupdate.rcu_normal_after_boot=1 nohz=on rcu_nocbs=1-3,5 "
        "tuned.non_isolcpus=00000011 systemd.cpu_affinity=0,4 intel_iommu=on iommu=pt "
        "isolcpus=managed_irq,1-3,5 intel_pstate=disable",
    ),
    (
        R51,
        {
            "hints": {"realtime": False},
            "hugepages": {
                "default_size": "1G",
                "pages": [
                    {"size": "1G", "count": 4},
                    {"size": "2M", "count": 10, "node": 1},
                ],
            },
        },
        "intel",
        f"{COMMON} intel_iommu=on iommu=pt intel_pstate=disable nohz_full=2-31,34-63 "
        "skew_tick=1 isolcpus=managed_irq,2-31,34-63 default_hugepagesz=1G hugepagesz=1G "
        "hugepages=4 hugepagesz=2M hugepages=0",
    ),
    (
        R51,
        {
            "kernel": {
                "tuned_bootloader": {
                    "cmdline_isolation": "+isolcpus=domain,managed_irq,${isolated_cores}",
                    "cmdline_take": "-nosoftlockup mce=off",
                    "cmdline_late": "mitigations=off",
                }
            }
        },
        "intel",
        f"{COMMON} intel_iommu=on iommu=pt tsc=reliable nmi_watchdog=0 intel_pstate=disable "
        "nohz_full=2-31,34-63 skew_tick=1 isolcpus=domain,managed_irq,2-31,34-63 "
        "rcutree.kthread_prio=11 mitigations=off",
    ),
]


@pytest.mark.parametrize(("release", "preset", "vendor", "line"), PRESETS)
def test_presets(release: str, preset: str, vendor: Vendor, line: str) -> None:
    assert disagreements(operator_arguments(load_preset(preset), vendor), line) == [], release


@pytest.mark.parametrize(("release", "sections", "vendor", "line"), VARIANTS)
def test_variants(release: str, sections: dict[str, Any], vendor: Vendor, line: str) -> None:
    intent = intent_with(POOL, **(CPUS | sections))
    assert disagreements(operator_arguments(intent, vendor), line) == [], release


def test_without_the_realtime_hint_cpus_are_tickless_in_new_releases_alone() -> None:
    found = {each.name: each.required for each in operator_arguments(load_preset(CORE))}
    assert (found["nohz_full"], found["isolcpus"]) == (False, True)
    # The article's own arguments have it, whatever the release.
    own = last_of_each(operator_arguments(load_preset(DETERMINISTIC)))
    assert {each.name: each.required for each in own}["nohz_full"]


def test_a_line_that_differs_is_reported() -> None:
    preset, vendor, line = next(row[1:] for row in PRESETS if row[0] == R420)
    wrong = line.replace("intel_pstate=passive", "intel_pstate=active").replace("nohz=on ", "")
    assert disagreements(operator_arguments(load_preset(preset), vendor), wrong) == [
        "nohz=on is missing",
        "intel_pstate=passive is missing",
        "intel_pstate=active was not expected",
    ]


# What of TuneD's [sysctl] and [service] is the same in the releases above.
CORE_SYSCTLS = {
    "kernel.hung_task_timeout_secs": "600",
    "kernel.nmi_watchdog": "0",
    "kernel.numa_balancing": "0",
    "net.ipv4.tcp_fastopen": "3",
    "vm.dirty_background_ratio": "3",
    "vm.dirty_ratio": "10",
    "vm.stat_interval": "10",
    "vm.swappiness": "10",
}


def test_sysctls_of_the_telco_core() -> None:
    # kernel.timer_migration was 1 in 4.16, 4.18 and 5.1, and 0 in 4.20: nothing is expected.
    assert expected_node(load_preset(CORE)).sysctls == CORE_SYSCTLS


def test_sysctls_of_the_single_node() -> None:
    expected = CORE_SYSCTLS | {"kernel.sched_rt_runtime_us": "-1", "kernel.timer_migration": "1"}
    del expected["kernel.numa_balancing"]
    assert expected_node(load_preset(SNO)).sysctls == expected


def test_services() -> None:
    # Releases 4.16 to 4.20 had stalld and chronyd alone.
    assert expected_node(load_preset(SNO)).units == {
        "fwupd-refresh.timer": False,
        "stalld": True,
        "chronyd": False,
    }
