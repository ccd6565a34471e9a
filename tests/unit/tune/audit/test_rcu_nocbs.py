"""Check 4. Tickless CPUs are offloaded unnamed: Linux, kernel-parameters.txt, nohz_full."""

import pytest

from plimsoll.tune.audit.checks.rcu_nocbs import CHECK
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.machines import CMDLINE, booted

TICKLESS = "/sys/devices/system/cpu/nohz_full"
REALTIME = intent(hints={"realtime": "on"})


@pytest.mark.parametrize("argument", ["rcu_nocbs=2-7", "rcu_nocbs=all", "rcu_nocbs=2-N"])
def test_offloaded_by_name_is_ok(argument: str) -> None:
    finding = CHECK.judge(host(CHECK, booted(argument)), REALTIME)
    assert (finding.verdict, finding.read[0].what) == ("ok", argument)


def test_offloaded_by_being_tickless_is_ok() -> None:
    files = booted("rcu_nocbs=2-3") | {TICKLESS: "4-7"}
    assert CHECK.judge(host(CHECK, files), REALTIME).verdict == "ok"


@pytest.mark.parametrize(
    ("argument", "left"), [("", "CPUs 2-7"), ("rcu_nocbs", "CPUs 2-7"), ("rcu_nocbs=2-6", "CPU 7")]
)
def test_others_fail(argument: str, left: str) -> None:
    finding = CHECK.judge(host(CHECK, booted(argument)), REALTIME)
    assert finding.verdict == "fail"
    assert finding.text == f"RCU callbacks run on isolated {left} themselves"
    assert commands(finding) == ["grubby --update-kernel=ALL --args=rcu_nocbs=2-7"]


def test_a_list_that_is_none_fails() -> None:
    finding = CHECK.judge(host(CHECK, booted("rcu_nocbs=7-2")), REALTIME)
    assert finding.verdict == "fail"
    assert "'7-2' is no list of CPUs" in finding.text


def test_an_intent_without_it_does_not_apply() -> None:
    assert CHECK.judge(host(CHECK, booted("")), intent()).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    files = booted("")
    del files[CMDLINE]
    view = host(CHECK, files, forbidden=[CMDLINE])
    assert CHECK.judge(view, REALTIME).verdict == "unknown"


def test_a_list_that_the_kernel_cannot_read_is_to_be_replaced() -> None:
    finding = CHECK.judge(host(CHECK, booted("rcu_nocbs=2-x")), REALTIME)
    assert finding.verdict == "fail"
    assert commands(finding) == ["grubby --update-kernel=ALL --args=rcu_nocbs=2-7"]
