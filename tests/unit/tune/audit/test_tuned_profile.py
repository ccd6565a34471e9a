"""Check 30: TuneD's profile. Outputs: tuned-adm(8)."""

from plimsoll.tune.audit.checks.tuned_profile import CHECK
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.processes import KTHREADD, running

ACTIVE = "/etc/tuned/active_profile"
VERIFY = "tuned-adm verify"
VERIFIED = (0, "Verification succeeded, current system settings match the preset profile.")
DIFFERS = (1, "Verification failed, current system settings differ from the preset profile.")
RUNNING = KTHREADD | running(600, "tuned")
ASKED = intent(services={"tuned": True})
OPENSHIFT = intent(platform="openshift", pool={"role": "worker"})


def test_active_and_verified_is_ok() -> None:
    """The profile that is rendered for a bare-metal intent called "declared"."""
    view = host(CHECK, RUNNING | {ACTIVE: "plimsoll-declared\n"}, outputs={VERIFY: VERIFIED})
    assert CHECK.judge(view, ASKED).verdict == "ok"


def test_another_profile_fails() -> None:
    view = host(CHECK, RUNNING | {ACTIVE: "balanced\n"}, outputs={VERIFY: VERIFIED})
    finding = CHECK.judge(view, ASKED)
    assert finding.verdict == "fail"
    assert finding.text == "TuneD's profile is balanced, not plimsoll-declared"
    assert commands(finding) == ["tuned-adm profile plimsoll-declared"]


def test_settings_that_changed_since_fail() -> None:
    view = host(CHECK, RUNNING | {ACTIVE: "plimsoll-declared"}, outputs={VERIFY: DIFFERS})
    assert CHECK.judge(view, ASKED).verdict == "fail"


def test_a_profile_without_its_daemon_fails() -> None:
    view = host(CHECK, KTHREADD | {ACTIVE: "plimsoll-declared"}, outputs={VERIFY: VERIFIED})
    finding = CHECK.judge(view, ASKED)
    assert finding.verdict == "fail"
    assert commands(finding) == ["systemctl enable --now tuned"]


def test_openshifts_tuned_is_in_a_container() -> None:
    finding = CHECK.judge(host(CHECK, RUNNING, outputs={VERIFY: VERIFIED}), OPENSHIFT)
    assert finding.verdict == "unknown"
    assert "oc get profiles.tuned.openshift.io" in finding.text


def test_openshift_is_never_told_to_switch_profiles() -> None:
    """Nor to start or stop TuneD, which its operator owns."""
    chosen = {ACTIVE: "openshift-node"}
    for files in (RUNNING | chosen, KTHREADD | {ACTIVE: "openshift-node-performance-declared"}):
        finding = CHECK.judge(host(CHECK, files, outputs={VERIFY: DIFFERS}), OPENSHIFT)
        assert finding.verdict == "fail"
        assert commands(finding) == []
        told = " ".join(step.text for step in finding.steps)
        assert "tuned-adm profile" not in told
        assert "systemctl" not in told
        assert "openshift-cluster-node-tuning-operator" in told


def test_openshifts_profile_is_named_after_the_intent() -> None:
    """cluster-node-tuning-operator: openshift-node-performance-<name>."""
    profile = {ACTIVE: "openshift-node-performance-declared"}
    view = host(CHECK, RUNNING | profile, outputs={VERIFY: VERIFIED})
    assert CHECK.judge(view, OPENSHIFT).verdict == "ok"


def test_tuned_is_to_be_off() -> None:
    off = intent(services={"tuned": False})
    assert CHECK.judge(host(CHECK, KTHREADD), off).verdict == "ok"
    assert CHECK.judge(host(CHECK, RUNNING), off).verdict == "fail"


def test_not_asked_for_is_not_judged() -> None:
    assert CHECK.judge(host(CHECK, RUNNING), intent()).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    view = host(CHECK, RUNNING, outputs={VERIFY: VERIFIED}, forbidden=[ACTIVE])
    assert CHECK.judge(view, ASKED).verdict == "unknown"
