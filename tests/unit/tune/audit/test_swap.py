"""Check 27. Format: proc_swaps(5)."""

from plimsoll.tune.audit.checks.swap import CHECK
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.intents import intent

PATH = "/proc/swaps"
HEAD = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
LINE = "/dev/dm-1                               partition\t8388604\t\t1024\t\t-2\n"
OFF = intent(services={"swap": False})


def test_no_swap_is_ok() -> None:
    assert CHECK.judge(host(CHECK, {PATH: HEAD}), OFF).verdict == "ok"
    assert CHECK.judge(host(CHECK, {}), OFF).verdict == "ok"


def test_a_swap_area_fails() -> None:
    finding = CHECK.judge(host(CHECK, {PATH: HEAD + LINE}), OFF)
    assert finding.verdict == "fail"
    assert "/dev/dm-1 (1024 of 8388604 KiB used)" in finding.text
    assert commands(finding) == ["swapoff -a"]


def test_openshift_has_none_unasked() -> None:
    asked = intent(platform="openshift", pool={"role": "worker"})
    assert CHECK.judge(host(CHECK, {PATH: HEAD + LINE}), asked).verdict == "fail"


def test_not_asked_for_is_not_judged() -> None:
    view = host(CHECK, {PATH: HEAD + LINE})
    assert CHECK.judge(view, intent()).verdict == "not-applicable"
    assert CHECK.judge(view, intent(services={"swap": True})).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    assert CHECK.judge(host(CHECK, {}, forbidden=[PATH]), OFF).verdict == "unknown"
