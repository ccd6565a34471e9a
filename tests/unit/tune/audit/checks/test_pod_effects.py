"""Check 42: the effects of CRI-O's annotations. /proc/schedstat: sched-stats.rst."""

from typing import Any

import pytest

from plimsoll.tune.audit.checks.pod_effects import CHECK
from tests.unit.tune.audit.hosts import host
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.pods import EXPECTED, ROOT, SCOPE, SLICE, workload
from tests.unit.tune.audit.processes import KTHREADD
from tests.worded.says import Says

QUOTA = f"{ROOT}{SCOPE}/cpu.max"
MAX = {QUOTA: "max 100000\n", f"{ROOT}{SLICE}/cpu.max": "max 100000\n"}
INTENT = intent(**EXPECTED)


def schedstat(balanced: str) -> dict[str, str]:
    """CPUs 0-3, those in `balanced` with a domain."""
    lines = ["version 15", "timestamp 4297299139"]
    for cpu in "0123":
        lines.append(f"cpu{cpu} 0 0 0 0 0 0 1 2 3")
        lines += ["domain0 0000000f 0 0 0"] if cpu in balanced else []
    return {"/proc/schedstat": "\n".join(lines)}


def test_no_quota_and_no_domain_is_ok() -> None:
    assert CHECK.judge(host(CHECK, workload() | MAX | schedstat("01")), INTENT).verdict == "ok"


def test_a_quota_that_is_still_there_fails(says: Says) -> None:
    files = workload() | MAX | {QUOTA: "200000 100000\n"} | schedstat("01")
    finding = CHECK.judge(host(CHECK, files), INTENT)
    assert finding.verdict == "fail"
    assert finding.text == says("900")
    assert "runtimeClassName" in finding.steps[0].text


def test_cpus_that_are_still_balanced_fail() -> None:
    finding = CHECK.judge(host(CHECK, workload() | MAX | schedstat("0123")), INTENT)
    assert finding.verdict == "fail"
    assert "still balances CPUs 2-3" in finding.text


def test_debugfs_tells_where_schedstat_is_not() -> None:
    domains = "/sys/kernel/debug/sched/domains"
    listed: dict[str, tuple[str, ...]] = {
        domains: ("cpu0", "cpu1", "cpu2", "cpu3"),
        f"{domains}/cpu0": ("domain0",),
        f"{domains}/cpu1": ("domain0",),
        f"{domains}/cpu2": (),
        f"{domains}/cpu3": (),
    }
    assert CHECK.judge(host(CHECK, workload() | MAX, listed=listed), INTENT).verdict == "ok"
    listed |= {f"{domains}/cpu3": ("domain0",)}
    assert CHECK.judge(host(CHECK, workload() | MAX, listed=listed), INTENT).verdict == "fail"


def test_interrupts_that_may_still_come_fail() -> None:
    pod: dict[str, Any] = {**EXPECTED["pods"][0], "effects": {"irq_load_balancing": False}}
    requested = intent(**(EXPECTED | {"pods": [pod]}))
    default = "/proc/irq/default_smp_affinity"
    # CPUs 0-3; then 0-1 alone.
    assert CHECK.judge(host(CHECK, workload() | {default: "f\n"}), requested).verdict == "fail"
    assert CHECK.judge(host(CHECK, workload() | {default: "3\n"}), requested).verdict == "ok"


def test_without_annotations_or_pods_it_does_not_apply() -> None:
    assert CHECK.judge(host(CHECK, workload()), intent()).verdict == "not-applicable"
    assert CHECK.judge(host(CHECK, KTHREADD), INTENT).verdict == "not-applicable"


def two_pods(second: dict[str, Any]) -> dict[str, Any]:
    """dpdk-a without a quota, dpdk-b as `second` has it."""
    first = {**EXPECTED["pods"][0], "name": "dpdk-a", "effects": {"cpu_quota": False}}
    return EXPECTED | {"pods": [first, {**EXPECTED["pods"][0], "name": "dpdk-b", **second}]}


@pytest.mark.parametrize("effects", [{"irq_load_balancing": False}, {}])
def test_what_only_one_of_two_pods_asks_for_is_judged_all_the_same(
    effects: dict[str, Any], says: Says
) -> None:
    requested = intent(**two_pods({"effects": effects}))
    files = workload() | MAX | {"/proc/irq/default_smp_affinity": "3\n"}
    assert CHECK.judge(host(CHECK, files), requested).verdict == "ok"
    finding = CHECK.judge(host(CHECK, files | {QUOTA: "200000 100000\n"}), requested)
    assert finding.verdict == "unknown"
    assert finding.text == says("900", "cpu_quota")
    assert (QUOTA, "200000 100000") in [(each.where, each.what) for each in finding.read]


def test_pods_of_one_class_are_distinguished_from_those_of_another(says: Says) -> None:
    """The process is in a guaranteed pod, and dpdk-b is none."""
    requested = intent(**two_pods({"qos": "burstable", "effects": {}}))
    files = workload() | MAX | {QUOTA: "200000 100000\n"}
    finding = CHECK.judge(host(CHECK, files), requested)
    assert finding.verdict == "fail"
    assert finding.text == says("900")


def test_what_nothing_tells_is_unknown() -> None:
    assert CHECK.judge(host(CHECK, workload() | MAX), INTENT).verdict == "unknown"
