"""Check 26: 1 on OpenShift, 0 by TuneD's cpu-partitioning on bare metal."""

import pytest

from plimsoll.tune.audit.checks.timer_migration import CHECK
from plimsoll.tune.intent.intent import Intent
from tests.unit.tune.audit.hosts import host
from tests.unit.tune.audit.intents import intent
from tests.worded.says import Says

PATH = "/proc/sys/kernel/timer_migration"
BARE_METAL = intent(scheduling={"timer_migration": 0})
OPENSHIFT = intent(platform="openshift", pool={"role": "worker"}, kernel={"realtime": True})


@pytest.mark.parametrize(("requested", "value"), [(BARE_METAL, "0"), (OPENSHIFT, "1")])
def test_the_platforms_own_value_is_ok(requested: Intent, value: str) -> None:
    assert CHECK.judge(host(CHECK, {PATH: f"{value}\n"}), requested).verdict == "ok"


@pytest.mark.parametrize(
    ("requested", "value", "expected"), [(BARE_METAL, "1", 0), (OPENSHIFT, "0", 1)]
)
def test_the_other_platforms_value_fails(requested: Intent, value: str, expected: int) -> None:
    finding = CHECK.judge(host(CHECK, {PATH: value}), requested)
    assert finding.verdict == "fail"
    assert f"sysctl -w kernel.timer_migration={expected}" in finding.steps[-1].text


def test_openshifts_tuned_sets_it_and_the_command_is_for_a_trial(says: Says) -> None:
    first, last = CHECK.judge(host(CHECK, {PATH: "0"}), OPENSHIFT).steps
    assert {first.kind, last.kind} == {"advice"}
    assert first.text == says(
        "PerformanceProfile",
        "TuneD",
        "kernel.timer_migration=1",
        "-f",
        "1-node/20-performance-profile.yaml",
    )
    assert last.text == says("-w", "kernel.timer_migration=1")


def test_what_the_intent_names_is_in_the_patch(says: Says) -> None:
    """The second article's own: kernel.timer_migration=1 in its Tuned performance-patch."""
    named = intent(platform="openshift", pool={"role": "worker"}, scheduling={"timer_migration": 1})
    step = CHECK.judge(host(CHECK, {PATH: "0"}), named).steps[0]
    assert step.text == says(
        "kernel.timer_migration=1", "[sysctl]", "-f", "1-node/21-tuned-patch.yaml"
    )


def test_not_requested_for_is_not_judged() -> None:
    assert CHECK.judge(host(CHECK, {PATH: "1"}), intent()).verdict == "not-applicable"
    assert CHECK.judge(host(CHECK, {}), BARE_METAL).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    assert CHECK.judge(host(CHECK, {}, forbidden=[PATH]), BARE_METAL).verdict == "unknown"
