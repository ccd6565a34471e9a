"""Check 2. The file is a CPU list, empty where there are none: Linux, cputopology.rst."""

from plimsoll.tune.audit.checks.isolated_cpus import CHECK
from tests.unit.tune.audit.hosts import host
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.machines import ONLINE
from tests.worded.says import Says

BOOT = "/sys/devices/system/cpu/isolated"
CPUSETS = "/sys/fs/cgroup/cpuset.cpus.isolated"
UNBALANCED = intent(cpus={"reserved": "0-1", "isolated": "2-7", "balance_isolated": "off"})
BALANCED = intent(platform="openshift", pool={"role": "worker"})


def test_all_isolated_cpus_unbalanced_is_ok() -> None:
    view = host(CHECK, {ONLINE: "0-7", BOOT: "2-7\n"})
    assert CHECK.judge(view, UNBALANCED).verdict == "ok"


def test_a_partition_of_cpusets_does_as_well() -> None:
    view = host(CHECK, {ONLINE: "0-7", BOOT: "\n", CPUSETS: "2-7\n"})
    finding = CHECK.judge(view, UNBALANCED)
    assert finding.verdict == "ok"
    assert [(each.where, each.what) for each in finding.read] == [(BOOT, "empty"), (CPUSETS, "2-7")]


def test_a_balanced_isolated_cpu_fails(says: Says) -> None:
    view = host(CHECK, {ONLINE: "0-7", BOOT: "2-6"})
    finding = CHECK.judge(view, UNBALANCED)
    assert finding.verdict == "fail"
    assert finding.text == says("7")


def test_an_unbalanced_reserved_cpu_fails() -> None:
    view = host(CHECK, {ONLINE: "0-7", BOOT: "1-7"})
    finding = CHECK.judge(view, UNBALANCED)
    assert finding.verdict == "fail"
    assert "reserved CPU 1" in finding.text


def test_cpus_that_are_not_there_are_not_missed() -> None:
    view = host(CHECK, {ONLINE: "0-3", BOOT: "2-3"})
    assert CHECK.judge(view, UNBALANCED).verdict == "ok"
    assert CHECK.judge(host(CHECK, {ONLINE: "0-1", BOOT: ""}), UNBALANCED).verdict == (
        "not-applicable"
    )


def test_on_openshift_empty_is_right_and_a_list_a_warning(says: Says) -> None:
    assert CHECK.judge(host(CHECK, {ONLINE: "0-7", BOOT: ""}), BALANCED).verdict == "ok"
    finding = CHECK.judge(host(CHECK, {ONLINE: "0-7", BOOT: "2-7"}), BALANCED)
    assert finding.verdict == "warn"
    assert finding.text == says()


def test_on_bare_metal_an_intent_that_does_not_say_allows_both() -> None:
    assert CHECK.judge(host(CHECK, {ONLINE: "0-7", BOOT: "2-7"}), intent()).verdict == "ok"


def test_what_may_not_be_read_or_is_no_list_is_unknown() -> None:
    view = host(CHECK, {ONLINE: "0-7"}, forbidden=[BOOT])
    assert CHECK.judge(view, UNBALANCED).verdict == "unknown"
    view = host(CHECK, {ONLINE: "0-7", BOOT: "2-7", CPUSETS: "all of them"})
    finding = CHECK.judge(view, UNBALANCED)
    assert finding.verdict == "unknown"
    assert CPUSETS in finding.text
