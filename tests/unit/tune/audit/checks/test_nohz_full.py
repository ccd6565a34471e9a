"""Check 3. "(null)" is what kernels print for no tickless CPU; cpu.max is "QUOTA PERIOD"."""

import pytest

from plimsoll.tune.audit.checks.nohz_full import CHECK
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.machines import booted
from tests.worded.says import Says

TICKLESS = "/sys/devices/system/cpu/nohz_full"
POD = "/sys/fs/cgroup/kubepods.slice/kubepods-pod7.slice/crio-1.scope"
REALTIME = intent(hints={"realtime": "on"})


def test_tickless_isolated_cpus_are_ok() -> None:
    finding = CHECK.judge(host(CHECK, booted("") | {TICKLESS: "2-7\n"}), REALTIME)
    assert finding.verdict == "ok"
    assert finding.expected == "nohz_full=2-7"


def test_isolated_cpus_with_a_tick_fail(says: Says) -> None:
    for text, left in (("(null)", "CPUs 2-7"), ("", "CPUs 2-7"), ("3-7", "CPU 2")):
        finding = CHECK.judge(host(CHECK, booted("") | {TICKLESS: text}), REALTIME)
        assert finding.verdict == "fail"
        assert finding.text == says(str(left))
        assert commands(finding) == ["grubby --update-kernel=ALL --args=nohz_full=2-7"]


def test_a_kernel_that_cannot_fails() -> None:
    finding = CHECK.judge(host(CHECK, booted("nohz_full=2-7")), REALTIME)
    assert finding.verdict == "fail"
    assert "CONFIG_NO_HZ_FULL" in finding.text
    # No argument helps: it takes another kernel.
    assert [step.kind for step in finding.steps] == ["advice"]
    assert "CONFIG_NO_HZ_FULL=y" in finding.steps[0].text


def test_a_tickless_reserved_cpu_is_warned_of() -> None:
    finding = CHECK.judge(host(CHECK, booted("") | {TICKLESS: "1-7"}), REALTIME)
    assert finding.verdict == "warn"
    assert "reserved CPU 1" in finding.text


def test_a_quota_on_tickless_cpus_fails(says: Says) -> None:
    files = booted("") | {
        TICKLESS: "2-7",
        f"{POD}/cpu.max": "400000 100000\n",
        f"{POD}/cpuset.cpus.effective": "2-5\n",
    }
    finding = CHECK.judge(host(CHECK, files), REALTIME)
    assert finding.verdict == "fail"
    assert "/kubepods.slice/kubepods-pod7.slice/crio-1.scope has tickless CPUs" in finding.text
    assert commands(finding) == [f"echo max > {POD}/cpu.max"]


def test_a_quota_above_tickless_cpus_fails(says: Says) -> None:
    """The tick stays where any group above has one: cfs_task_bw_constrained, hierarchical_quota."""
    above = POD.rpartition("/")[0]
    files = booted("") | {
        TICKLESS: "2-7",
        f"{above}/cpu.max": "400000 100000\n",
        f"{above}/cpuset.cpus.effective": "0-7\n",
        f"{POD}/cpu.max": "max 100000\n",
        f"{POD}/cpuset.cpus.effective": "2-5\n",
    }
    finding = CHECK.judge(host(CHECK, files), REALTIME)
    assert finding.verdict == "fail"
    assert commands(finding) == [f"echo max > {above}/cpu.max"]


@pytest.mark.parametrize("mounted", ["cpu,cpuacct", "cpu"])
def test_a_quota_of_version_1_fails(mounted: str, says: Says) -> None:
    """As RHEL 8 and OpenShift up to 4.13 mount them."""
    group = POD.removeprefix("/sys/fs/cgroup/")
    quota = f"/sys/fs/cgroup/{mounted}/{group}/cpu.cfs_quota_us"
    cpus = {f"/sys/fs/cgroup/cpuset/{group}/cpuset.cpus": "2-5\n"}
    limited = booted("") | {TICKLESS: "2-7", quota: "400000\n"} | cpus
    finding = CHECK.judge(host(CHECK, limited), REALTIME)
    assert finding.verdict == "fail"
    assert finding.text == says(f"/{group}")
    assert commands(finding) == [f"echo -1 > {quota}"]
    for changed in ({quota: "-1\n"}, {next(iter(cpus)): "0-7\n"}, {next(iter(cpus)): ""}):
        assert CHECK.judge(host(CHECK, limited | changed), REALTIME).verdict == "ok"


def test_on_openshift_the_pod_asks_for_no_quota() -> None:
    declared = intent(platform="openshift", pool={"role": "worker"})
    files = {f"{POD}/cpu.max": "1 100000", f"{POD}/cpuset.cpus.effective": "2-5"}
    finding = CHECK.judge(host(CHECK, booted("") | {TICKLESS: "2-7"} | files), declared)
    assert (finding.verdict, commands(finding)) == ("fail", [])
    assert "cpu-quota.crio.io" in finding.steps[0].text


def test_no_quota_and_quotas_elsewhere_are_ok() -> None:
    for quota, cpus in (("max 100000", "2-5"), ("50000 100000", "0-1"), ("50000 100000", "0-7")):
        files = booted("") | {
            TICKLESS: "2-7",
            f"{POD}/cpu.max": quota,
            f"{POD}/cpuset.cpus.effective": cpus,
        }
        assert CHECK.judge(host(CHECK, files), REALTIME).verdict == "ok", (quota, cpus)


def test_an_intent_without_it_does_not_apply() -> None:
    finding = CHECK.judge(host(CHECK, booted("")), intent())
    assert finding.verdict == "not-applicable"
    assert "hints.realtime" in finding.text


def test_what_may_not_be_read_is_unknown() -> None:
    view = host(CHECK, booted(""), forbidden=[TICKLESS])
    assert CHECK.judge(view, REALTIME).verdict == "unknown"
