"""Check 30: TuneD's profile. Outputs: tuned-adm(8)."""

import pytest

from plimsoll.tune.audit.checks.tuned_profile import CHECK
from plimsoll.tune.intent.system import Tuned
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.processes import KTHREADD, running
from tests.worded.says import Says

ACTIVE = "/etc/tuned/active_profile"
VERIFY = "tuned-adm verify"
VERIFIED = (0, "Verification succeeded, current system settings match the preset profile.")
DIFFERS = (1, "Verification failed, current system settings differ from the preset profile.")
RUNNING = KTHREADD | running(600, "tuned")
INTENT = intent(services={"tuned": True})
OPENSHIFT = intent(platform="openshift", pool={"role": "worker"})


def test_active_and_verified_is_ok() -> None:
    """The profile that is rendered for a bare-metal intent called "declared"."""
    view = host(CHECK, RUNNING | {ACTIVE: "plimsoll-declared\n"}, outputs={VERIFY: VERIFIED})
    assert CHECK.judge(view, INTENT).verdict == "ok"


def test_another_profile_fails(says: Says) -> None:
    view = host(CHECK, RUNNING | {ACTIVE: "balanced\n"}, outputs={VERIFY: VERIFIED})
    finding = CHECK.judge(view, INTENT)
    assert finding.verdict == "fail"
    assert finding.text == says("TuneD", "profile", "plimsoll-declared")
    assert commands(finding) == ["tuned-adm profile plimsoll-declared"]


# As in redhat-performance/tuned, profiles/cpu-partitioning/cpu-partitioning-variables.conf.
VARIABLES = "/etc/tuned/cpu-partitioning-variables.conf"
PARTITIONED = "# Examples:\n# isolated_cores=2,4-7\nisolated_cores=2-7\nno_balance_cores=2-7\n"


def test_tuneds_own_partitioning_of_the_same_cpus_is_as_good(says: Says) -> None:
    files = RUNNING | {ACTIVE: "cpu-partitioning", VARIABLES: PARTITIONED}
    finding = CHECK.judge(host(CHECK, files, outputs={VERIFY: VERIFIED}), INTENT)
    assert finding.verdict == "ok"
    assert finding.text == says("TuneD", "cpu-partitioning", "2-7")


@pytest.mark.parametrize("variables", ["isolated_cores=2-3\n", "isolated_cores=${f:x}\n", ""])
def test_tuneds_own_partitioning_of_other_cpus_fails(variables: str) -> None:
    files = RUNNING | {ACTIVE: "cpu-partitioning", VARIABLES: variables}
    assert CHECK.judge(host(CHECK, files, outputs={VERIFY: VERIFIED}), INTENT).verdict == "fail"


@pytest.mark.parametrize("folder", ["/etc/tuned", "/etc/tuned/profiles"])
def test_a_profile_of_another_name_that_stands_on_it_is_as_good(folder: str, says: Says) -> None:
    files = RUNNING | {
        ACTIVE: "ours",
        f"{folder}/ours/tuned.conf": "[main]\nsummary=x\ninclude = site, ours\n",
        f"{folder}/site/tuned.conf": "[main]\ninclude=plimsoll-declared\n",
    }
    finding = CHECK.judge(host(CHECK, files, outputs={VERIFY: VERIFIED}), INTENT)
    assert finding.verdict == "ok"
    assert finding.text == says("ours")
    # And the intent may give it its name.
    named = INTENT.model_copy(update={"tuned": Tuned(name="ours")})
    view = host(CHECK, RUNNING | {ACTIVE: "ours"}, outputs={VERIFY: VERIFIED})
    assert CHECK.judge(view, named).text == says("ours")


def test_settings_that_changed_since_fail() -> None:
    view = host(CHECK, RUNNING | {ACTIVE: "plimsoll-declared"}, outputs={VERIFY: DIFFERS})
    assert CHECK.judge(view, INTENT).verdict == "fail"


def test_a_profile_without_its_daemon_fails() -> None:
    view = host(CHECK, KTHREADD | {ACTIVE: "plimsoll-declared"}, outputs={VERIFY: VERIFIED})
    finding = CHECK.judge(view, INTENT)
    assert finding.verdict == "fail"
    assert commands(finding) == ["systemctl enable --now tuned"]


def test_openshifts_tuned_is_in_a_container() -> None:
    finding = CHECK.judge(host(CHECK, RUNNING, outputs={VERIFY: VERIFIED}), OPENSHIFT)
    assert finding.verdict == "unknown"
    assert "oc get profiles.tuned.openshift.io" in finding.text


def test_openshift_is_never_advised_to_switch_profiles() -> None:
    """Nor to start or stop TuneD, which its operator owns."""
    chosen = {ACTIVE: "openshift-node"}
    for files in (RUNNING | chosen, KTHREADD | {ACTIVE: "openshift-node-performance-declared"}):
        finding = CHECK.judge(host(CHECK, files, outputs={VERIFY: DIFFERS}), OPENSHIFT)
        assert finding.verdict == "fail"
        assert commands(finding) == []
        message = " ".join(step.text for step in finding.steps)
        assert "tuned-adm profile" not in message
        assert "systemctl" not in message
        assert "openshift-cluster-node-tuning-operator" in message


def test_openshifts_profile_is_named_after_the_intent() -> None:
    """cluster-node-tuning-operator: openshift-node-performance-<name>."""
    profile = {ACTIVE: "openshift-node-performance-declared"}
    view = host(CHECK, RUNNING | profile, outputs={VERIFY: VERIFIED})
    assert CHECK.judge(view, OPENSHIFT).verdict == "ok"


def test_tuned_is_to_be_off() -> None:
    off = intent(services={"tuned": False})
    assert CHECK.judge(host(CHECK, KTHREADD), off).verdict == "ok"
    assert CHECK.judge(host(CHECK, RUNNING), off).verdict == "fail"


def test_not_requested_for_is_not_judged() -> None:
    assert CHECK.judge(host(CHECK, RUNNING), intent()).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    view = host(CHECK, RUNNING, outputs={VERIFY: VERIFIED}, forbidden=[ACTIVE])
    assert CHECK.judge(view, INTENT).verdict == "unknown"
