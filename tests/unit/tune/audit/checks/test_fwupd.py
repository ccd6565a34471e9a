"""Check 17. Words and exit statuses: systemctl(1), is-active and is-enabled."""

from plimsoll.tune.audit.checks.fwupd import CHECK
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.intents import intent
from tests.worded.says import Says

UNIT = {"/usr/lib/systemd/system/fwupd-refresh.timer": "[Timer]\nOnCalendar=*-*-* 6,18:00\n"}
ACTIVE = "systemctl is-active fwupd-refresh.timer"
ENABLED = "systemctl is-enabled fwupd-refresh.timer"
OFF = intent(services={"fwupd": "off"})


def test_off_or_not_installed_is_ok(says: Says) -> None:
    outputs = {ACTIVE: (3, "inactive"), ENABLED: (1, "disabled")}
    assert CHECK.judge(host(CHECK, UNIT, outputs=outputs), OFF).verdict == "ok"
    finding = CHECK.judge(host(CHECK, {}), OFF)
    assert finding.verdict == "ok"
    assert finding.text == says()


def test_a_running_timer_fails() -> None:
    outputs = {ACTIVE: (0, "active"), ENABLED: (0, "enabled")}
    finding = CHECK.judge(host(CHECK, UNIT, outputs=outputs), OFF)
    assert finding.verdict == "fail"
    assert commands(finding) == ["systemctl disable --now fwupd-refresh.timer"]


def test_one_that_comes_back_is_warned_of() -> None:
    outputs = {ACTIVE: (3, "inactive"), ENABLED: (0, "enabled")}
    finding = CHECK.judge(host(CHECK, UNIT, outputs=outputs), OFF)
    assert finding.verdict == "warn"
    assert "next boot" in finding.text


def test_openshift_turns_it_off_unrequested_but_not_in_all_releases() -> None:
    declared = intent(platform="openshift", pool={"role": "worker"})
    outputs = {ACTIVE: (0, "active"), ENABLED: (0, "enabled")}
    assert CHECK.judge(host(CHECK, UNIT, outputs=outputs), declared).verdict == "warn"


def test_an_intent_that_does_not_say_does_not_apply() -> None:
    assert CHECK.judge(host(CHECK, UNIT), intent()).verdict == "not-applicable"


def test_a_command_that_did_not_run_is_unknown() -> None:
    finding = CHECK.judge(host(CHECK, UNIT), OFF)
    assert finding.verdict == "unknown"
    assert ACTIVE in finding.text
