"""Check 15. Formats: Linux, intel_pstate.rst (no_turbo) and cpufreq.rst (boost)."""

import pytest

from plimsoll.tune.audit.checks.turbo import CHECK
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.intents import intent

INTEL = "/sys/devices/system/cpu/intel_pstate/no_turbo"
OTHERS = "/sys/devices/system/cpu/cpufreq/boost"
OFF, ON = intent(bios={"turbo": "off"}), intent(bios={"turbo": "on"})


@pytest.mark.parametrize("files", [{INTEL: "1"}, {OTHERS: "0"}])
def test_turbo_off(files: dict[str, str]) -> None:
    assert CHECK.judge(host(CHECK, files), OFF).verdict == "ok"
    finding = CHECK.judge(host(CHECK, files), ON)
    assert (finding.verdict, finding.text) == ("fail", "turbo is off")


@pytest.mark.parametrize(("path", "text", "off"), [(INTEL, "0", "1"), (OTHERS, "1", "0")])
def test_turbo_on(path: str, text: str, off: str) -> None:
    assert CHECK.judge(host(CHECK, {path: text}), ON).verdict == "ok"
    finding = CHECK.judge(host(CHECK, {path: text}), OFF)
    assert finding.verdict == "fail"
    assert commands(finding) == [f"echo {off} > {path}"]


def test_without_a_wish_or_a_switch_it_does_not_apply() -> None:
    assert CHECK.judge(host(CHECK, {INTEL: "0"}), intent()).verdict == "not-applicable"
    assert CHECK.judge(host(CHECK, {}), OFF).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    assert CHECK.judge(host(CHECK, {}, forbidden=[INTEL]), OFF).verdict == "unknown"
