"""Check 16. The counter is Intel's MSR 0x34; perf's event of the same is called smi."""

from plimsoll.tune.audit.checks.smi import CHECK
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.machines import AMD, CPUINFO, GUEST, INTEL

MSR, EVENTS = "/dev/cpu/0", "/sys/bus/event_source/devices/msr/events"


def test_a_readable_counter_is_ok() -> None:
    view = host(CHECK, {CPUINFO: INTEL}, listed={MSR: ("cpuid", "msr")})
    assert CHECK.judge(view, None).verdict == "ok"


def test_without_the_module_it_warns() -> None:
    view = host(CHECK, {CPUINFO: INTEL}, listed={EVENTS: ("aperf", "smi", "tsc")})
    finding = CHECK.judge(view, None)
    assert finding.verdict == "warn"
    assert commands(finding) == ["modprobe msr"]


def test_an_intel_cpu_that_shows_no_counter_is_unknown() -> None:
    assert CHECK.judge(host(CHECK, {CPUINFO: INTEL}), None).verdict == "unknown"


def test_a_guest_and_other_makers_do_not_apply() -> None:
    for cpuinfo in (GUEST, AMD):
        assert CHECK.judge(host(CHECK, {CPUINFO: cpuinfo}), None).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    view = host(CHECK, {}, forbidden=[CPUINFO])
    assert CHECK.judge(view, None).verdict == "unknown"
