"""Check 43. Formats: cgroup-v2.rst (cpu.max, cpu.stat), sched-bwc.rst (cpu.cfs_quota_us)."""

import pytest

from plimsoll.tune.audit.checks.cpu_quota import CHECK
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.pods import EXPECTED, ROOT, SCOPE, SLICE, workload
from tests.unit.tune.audit.processes import CONTAINED, KTHREADD
from tests.worded.says import Says

INTENT = intent(**EXPECTED)
V1 = f"{ROOT}/cpu,cpuacct"


def stat(throttled: int) -> str:
    return f"usage_usec 99\nnr_periods 500\nnr_throttled {throttled}\nthrottled_usec 7\n"


def v2(container: str, pod: str, throttled: int = 0) -> dict[str, str]:
    return workload() | {
        f"{ROOT}{SCOPE}/cpu.max": container,
        f"{ROOT}{SCOPE}/cpu.stat": stat(throttled),
        f"{ROOT}{SLICE}/cpu.max": pod,
    }


def v1(quota: str, throttled: int = 0) -> dict[str, str]:
    return workload(version=1) | {
        f"{V1}{SCOPE}/cpu.cfs_quota_us": quota,
        f"{V1}{SCOPE}/cpu.stat": f"nr_periods 5\nnr_throttled {throttled}\nthrottled_time 0\n",
        f"{V1}/cpu.cfs_quota_us": "-1\n",
    }


@pytest.mark.parametrize("files", [v2("max 100000\n", "max 100000\n"), v1("-1\n")])
def test_no_quota_is_ok(files: dict[str, str]) -> None:
    assert CHECK.judge(host(CHECK, files), INTENT).verdict == "ok"


@pytest.mark.parametrize("files", [v2("200000 100000\n", "max 100000\n"), v1("200000\n")])
def test_a_quota_fails(files: dict[str, str], says: Says) -> None:
    finding = CHECK.judge(host(CHECK, files), INTENT)
    assert finding.verdict == "fail"
    assert finding.text == says("900")
    assert "cpu-quota.crio.io" in finding.steps[0].text


def test_the_pods_own_quota_above_the_container_counts_too() -> None:
    finding = CHECK.judge(host(CHECK, v2("max 100000", "200000 100000")), INTENT)
    assert finding.verdict == "fail"


@pytest.mark.parametrize("files", [v2("200000 100000", "max", 17), v1("200000", 17)])
def test_periods_that_were_throttled_are_reported(files: dict[str, str], says: Says) -> None:
    finding = CHECK.judge(host(CHECK, files), INTENT)
    assert finding.verdict == "fail"
    assert finding.text == says("900", "17")


def test_throttled_before_the_quota_was_lifted_is_warned() -> None:
    assert CHECK.judge(host(CHECK, v2("max 100000", "max", 17)), INTENT).verdict == "warn"


def test_a_service_of_the_host_can_be_set_free(says: Says) -> None:
    path = "/system.slice/dpdk.service"
    limit = {f"{ROOT}{path}/cpu.max": "50000 100000\n"}
    finding = CHECK.judge(host(CHECK, workload(path) | limit), INTENT)
    assert commands(finding) == [f"echo max > {ROOT}{path}/cpu.max"]


def test_where_nothing_runs_it_does_not_apply(says: Says) -> None:
    finding = CHECK.judge(host(CHECK, KTHREADD), INTENT)
    assert finding.verdict == "not-applicable"
    assert finding.text == says()


def test_what_may_not_be_read_is_unknown() -> None:
    view = host(CHECK, workload(), forbidden=[f"{ROOT}{SCOPE}/cpu.max"])
    assert CHECK.judge(view, INTENT).verdict == "unknown"
    assert CHECK.judge(host(CHECK, CONTAINED), INTENT).verdict == "unknown"
