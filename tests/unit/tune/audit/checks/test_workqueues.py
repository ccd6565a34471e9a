"""Check 6. Masks are groups of 32 bits, the highest first: Linux, lib/bitmap-str.c."""

from plimsoll.tune.audit.checks.workqueues import CHECK
from tests.unit.tune.audit.hosts import commands, host_of_8
from tests.unit.tune.audit.intents import intent
from tests.worded.says import Says

UNBOUND = "/sys/devices/virtual/workqueue/cpumask"
WRITEBACK = "/sys/devices/virtual/workqueue/writeback/cpumask"


def test_reserved_cpus_alone_are_ok() -> None:
    assert CHECK.judge(host_of_8(CHECK, {UNBOUND: "03", WRITEBACK: "03"}), intent()).verdict == "ok"


def test_a_queue_counts_within_the_general_mask() -> None:
    view = host_of_8(CHECK, {UNBOUND: "3", WRITEBACK: "ff"})
    assert CHECK.judge(view, intent()).verdict == "ok"


def test_isolated_cpus_fail_with_the_masks_to_write(says: Says) -> None:
    declared = intent(cpus={"reserved": "0,40", "isolated": "1-39"})
    view = host_of_8(CHECK, {UNBOUND: "1ff,ffffffff", WRITEBACK: "00,00000002"})
    finding = CHECK.judge(view, declared)
    assert finding.verdict == "fail"
    assert finding.text == says("1-39")
    assert commands(finding) == [
        f"echo 100,00000001 > {UNBOUND}",
        f"echo 100,00000001 > {WRITEBACK}",
    ]


def test_without_an_intent_it_does_not_apply() -> None:
    assert CHECK.judge(host_of_8(CHECK, {UNBOUND: "ff"}), None).verdict == "not-applicable"


def test_unreadable_or_no_mask_is_unknown() -> None:
    for view in (host_of_8(CHECK, {}, forbidden=[UNBOUND]), host_of_8(CHECK, {UNBOUND: "0-7"})):
        finding = CHECK.judge(view, intent())
        assert finding.verdict == "unknown"
        assert UNBOUND in finding.text
