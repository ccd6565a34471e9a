"""Check 23. Values: Linux, Documentation/admin-guide/sysctl/kernel.rst, numa_balancing."""

from plimsoll.tune.audit.checks.numa_balancing import CHECK
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.intents import intent
from tests.worded.says import Says

PATH = "/proc/sys/kernel/numa_balancing"
OFF = intent(services={"numa_balancing": False})


def test_0_is_ok() -> None:
    assert CHECK.judge(host(CHECK, {PATH: "0\n"}), OFF).verdict == "ok"


def test_1_fails(says: Says) -> None:
    finding = CHECK.judge(host(CHECK, {PATH: "1\n"}), OFF)
    assert finding.verdict == "fail"
    assert finding.text == says("kernel.numa_balancing", "1", "0")
    assert commands(finding) == ["sysctl -w kernel.numa_balancing=0"]


def test_a_kernel_without_it_is_ok() -> None:
    assert CHECK.judge(host(CHECK, {}), OFF).verdict == "ok"


def test_openshifts_profile_has_it_off_without_the_realtime_kernel(says: Says) -> None:
    """TuneD's network-latency is a parent of openshift-node-performance."""
    requested = intent(platform="openshift", pool={"role": "worker"})
    finding = CHECK.judge(host(CHECK, {PATH: "1"}), requested)
    assert finding.verdict == "fail"
    assert finding.text == says("OpenShift", "TuneD")


def test_not_requested_for_is_not_judged() -> None:
    assert CHECK.judge(host(CHECK, {PATH: "1"}), intent()).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    assert CHECK.judge(host(CHECK, {}, forbidden=[PATH]), OFF).verdict == "unknown"
