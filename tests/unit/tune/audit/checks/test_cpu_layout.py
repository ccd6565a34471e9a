"""Check 10: four cores of two threads on one node, CPU n and n + 4 siblings."""

from plimsoll.tune.audit.checks.cpu_layout import CHECK
from plimsoll.tune.intent.intent import Intent
from tests.unit.tune.audit.hosts import host
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.machines import ONLINE, cores
from tests.worded.says import Says

HOST = cores((0, 4), (1, 5), (2, 6), (3, 7), nodes={0: "0-7"})


def split(reserved: str, isolated: str) -> Intent:
    return intent(cpus={"reserved": reserved, "isolated": isolated})


def test_whole_cores_of_all_cpus_are_ok() -> None:
    finding = CHECK.judge(host(CHECK, HOST), split("0,4", "1-3,5-7"))
    assert finding.verdict == "ok"
    assert finding.read[1].what == "4 cores with SMT; node 0: CPUs 0-7"


def test_a_split_core_fails(says: Says) -> None:
    finding = CHECK.judge(host(CHECK, HOST), split("0-1", "2-7"))
    assert finding.verdict == "fail"
    assert finding.text == says("2", "0,4", "1,5")


def test_a_cpu_of_neither_kind_fails() -> None:
    assert CHECK.judge(host(CHECK, HOST), split("0,4", "1-2,5-6")).verdict == "fail"


def test_cpu_0_isolated_fails(says: Says) -> None:
    finding = CHECK.judge(host(CHECK, HOST), split("1,5", "0,2-4,6-7"))
    assert finding.verdict == "fail"
    assert finding.text == says("0")


def test_a_node_without_a_reserved_core_is_warned_of() -> None:
    two = cores((0,), (1,), (2,), (3,), nodes={0: "0-1", 1: "2-3"})
    finding = CHECK.judge(host(CHECK, two), split("0", "1-3"))
    assert finding.verdict == "warn"
    assert finding.steps[0].kind == "advice"


def test_without_an_intent_it_does_not_apply() -> None:
    assert CHECK.judge(host(CHECK, HOST), None).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    finding = CHECK.judge(host(CHECK, {}, forbidden=[ONLINE]), intent())
    assert finding.verdict == "unknown"
    assert ONLINE in finding.text
