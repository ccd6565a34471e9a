"""Check 26: 1 on OpenShift, 0 by TuneD's cpu-partitioning on bare metal."""

import pytest

from plimsoll.tune.audit.checks.timer_migration import CHECK
from plimsoll.tune.intent.intent import Intent
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.intents import intent

PATH = "/proc/sys/kernel/timer_migration"
BARE_METAL = intent(scheduling={"timer_migration": 0})
OPENSHIFT = intent(platform="openshift", pool={"role": "worker"}, kernel={"realtime": True})


@pytest.mark.parametrize(("asked", "value"), [(BARE_METAL, "0"), (OPENSHIFT, "1")])
def test_the_platforms_own_value_is_ok(asked: Intent, value: str) -> None:
    assert CHECK.judge(host(CHECK, {PATH: f"{value}\n"}), asked).verdict == "ok"


@pytest.mark.parametrize(("asked", "value", "wanted"), [(BARE_METAL, "1", 0), (OPENSHIFT, "0", 1)])
def test_the_other_platforms_value_fails(asked: Intent, value: str, wanted: int) -> None:
    finding = CHECK.judge(host(CHECK, {PATH: value}), asked)
    assert finding.verdict == "fail"
    assert commands(finding) == [f"sysctl -w kernel.timer_migration={wanted}"]


def test_not_asked_for_is_not_judged() -> None:
    assert CHECK.judge(host(CHECK, {PATH: "1"}), intent()).verdict == "not-applicable"
    assert CHECK.judge(host(CHECK, {}), BARE_METAL).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    assert CHECK.judge(host(CHECK, {}, forbidden=[PATH]), BARE_METAL).verdict == "unknown"
