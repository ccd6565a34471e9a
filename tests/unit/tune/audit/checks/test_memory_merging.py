"""Check 22: THP and KSM. Formats: Linux, Documentation/admin-guide/mm/transhuge.rst, ksm.rst."""

import pytest

from plimsoll.tune.audit.checks.memory_merging import CHECK
from plimsoll.tune.render.bare_metal.housekeeping import render_housekeeping
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.intents import intent
from tests.worded.says import Says

THP = "/sys/kernel/mm/transparent_hugepage/enabled"
KSM = "/sys/kernel/mm/ksm/run"
SHARED = "/sys/kernel/mm/ksm/pages_shared"
BOTH_OFF = {"thp": False, "ksm": False}


def test_never_and_0_are_ok() -> None:
    view = host(CHECK, {THP: "always madvise [never]\n", KSM: "0\n"})
    assert CHECK.judge(view, intent(services=BOTH_OFF)).verdict == "ok"


@pytest.mark.parametrize(
    ("run", "shared", "verdict"),
    [("0", "12", "warn"), ("0", "0", "ok"), ("2", "0", "ok"), ("0", None, "ok")],
)
def test_pages_that_stay_merged_are_reported(run: str, shared: str | None, verdict: str) -> None:
    """ksm.rst: 0 stops ksmd and keeps merged pages, 2 unmerges them. None is an old capture."""
    files = {THP: "always madvise [never]", KSM: run} | ({SHARED: shared} if shared else {})
    finding = CHECK.judge(host(CHECK, files), intent(services=BOTH_OFF))
    assert finding.verdict == verdict
    assert commands(finding) == ([f"echo 2 > {KSM}"] if verdict == "warn" else [])


def test_what_is_written_is_what_the_rendered_script_writes() -> None:
    requested = intent(services=BOTH_OFF)
    scripts = [f.text for f in render_housekeeping(requested) if f.path.endswith("housekeeping")]
    view = host(CHECK, {THP: "always madvise [never]", KSM: "1"})
    (step,) = commands(CHECK.judge(view, requested))
    value, path = step.removeprefix("echo ").split(" > ")
    assert f'write {value} "$root{path}"' in scripts[0]


def test_a_kernel_that_has_neither_is_ok() -> None:
    assert CHECK.judge(host(CHECK, {}), intent(services=BOTH_OFF)).verdict == "ok"


@pytest.mark.parametrize(
    ("thp", "ksm", "verdict", "step"),
    [
        ("[always] madvise never", "0", "fail", f"echo never > {THP}"),
        ("always [madvise] never", "0", "warn", f"echo never > {THP}"),
        ("always madvise [never]", "1", "fail", f"echo 2 > {KSM}"),
    ],
)
def test_what_is_on_is_reported(thp: str, ksm: str, verdict: str, step: str) -> None:
    finding = CHECK.judge(host(CHECK, {THP: thp, KSM: ksm}), intent(services=BOTH_OFF))
    assert finding.verdict == verdict
    assert commands(finding) == [step]


def test_openshifts_profile_turns_both_off_unrequested() -> None:
    """cluster-node-tuning-operator: [vm] transparent_hugepages=never."""
    requested = intent(platform="openshift", pool={"role": "worker"})
    view = host(CHECK, {THP: "[always] madvise never", KSM: "0"})
    assert CHECK.judge(view, requested).verdict == "fail"


def test_an_intent_that_says_nothing_is_not_judged() -> None:
    view = host(CHECK, {THP: "[always] madvise never", KSM: "1"})
    assert CHECK.judge(view, intent()).verdict == "not-applicable"


def test_expected_on_and_off_is_warned(says: Says) -> None:
    view = host(CHECK, {THP: "always madvise [never]", KSM: "0"})
    assert CHECK.judge(view, intent(services={"thp": True, "ksm": True})).verdict == "warn"
    without = host(CHECK, {KSM: "1"})
    finding = CHECK.judge(without, intent(services={"thp": True, "ksm": True}))
    assert finding.verdict == "warn"
    assert finding.text == says()


def test_what_may_not_be_read_is_unknown() -> None:
    view = host(CHECK, {KSM: "0"}, forbidden=[THP])
    assert CHECK.judge(view, intent(services=BOTH_OFF)).verdict == "unknown"
