"""Check 7: watchdogs. Formats: Linux, Documentation/admin-guide/sysctl/kernel.rst."""

from plimsoll.tune.audit.checks.watchdog import CHECK
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.intents import intent

NMI = "/proc/sys/kernel/nmi_watchdog"
SOFT = "/proc/sys/kernel/soft_watchdog"
CPUS = "/proc/sys/kernel/watchdog_cpumask"


def test_off_is_ok() -> None:
    finding = CHECK.judge(host(CHECK, {NMI: "0\n", SOFT: "0\n", CPUS: "0-7\n"}), intent())
    assert finding.verdict == "ok"
    assert [(each.where, each.what) for each in finding.read] == [(NMI, "0"), (SOFT, "0")]


def test_a_kernel_without_watchdogs_is_ok() -> None:
    assert CHECK.judge(host(CHECK, {}), intent()).verdict == "ok"


def test_nmi_watchdog_on_fails() -> None:
    finding = CHECK.judge(host(CHECK, {NMI: "1", SOFT: "1", CPUS: "0-1"}), intent())
    assert finding.verdict == "fail"
    assert "interrupts every CPU" in finding.text
    assert commands(finding) == ["sysctl -w kernel.nmi_watchdog=0"]


def test_soft_lockup_detector_on_isolated_cpus_is_warned() -> None:
    finding = CHECK.judge(host(CHECK, {NMI: "0", SOFT: "1", CPUS: "0-3"}), intent())
    assert finding.verdict == "warn"
    assert finding.text == "the soft lockup detector wakes isolated CPUs 2-3"
    assert commands(finding) == ["sysctl -w kernel.watchdog_cpumask=0-1"]


def test_without_an_intent_it_does_not_apply() -> None:
    finding = CHECK.judge(host(CHECK, {NMI: "1"}), None, "nobody declared one")
    assert (finding.verdict, finding.text) == ("not-applicable", "nobody declared one")


def test_what_may_not_be_read_is_unknown() -> None:
    finding = CHECK.judge(host(CHECK, {SOFT: "0"}, forbidden=[NMI]), intent())
    assert finding.verdict == "unknown"
    assert finding.text == f"{NMI} may not be read without more privileges"


def test_a_list_that_is_none_is_unknown() -> None:
    finding = CHECK.judge(host(CHECK, {NMI: "0", SOFT: "1", CPUS: "f-f"}), intent())
    assert finding.verdict == "unknown"
    assert CPUS in finding.text
