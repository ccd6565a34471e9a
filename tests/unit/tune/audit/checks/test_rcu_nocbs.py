"""Check 4. Tickless CPUs are offloaded unnamed: Linux, kernel-parameters.txt, nohz_full."""

import pytest

from plimsoll.tune.audit.checks.nohz_full import CHECK as NOHZ_FULL
from plimsoll.tune.audit.checks.rcu_nocbs import CHECK
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.machines import CMDLINE, booted
from tests.unit.tune.audit.processes import CONTAINED, KTHREADD, running
from tests.worded.says import Says

TICKLESS = "/sys/devices/system/cpu/nohz_full"
REALTIME = intent(hints={"realtime": "on"})


@pytest.mark.parametrize("argument", ["rcu_nocbs=2-7", "rcu_nocbs=all", "rcu_nocbs=2-N"])
def test_offloaded_by_name_is_ok(argument: str) -> None:
    finding = CHECK.judge(host(CHECK, booted(argument) | {TICKLESS: "(null)\n"}), REALTIME)
    assert (finding.verdict, finding.read[0].what) == ("ok", argument)


OFFLOADED = booted("rcu_nocbs=2-7") | KTHREADD


@pytest.mark.parametrize("thread", ["rcuop/3", "rcuos/3", "rcuog/0"])
def test_a_kernel_without_tickless_cpus_can_offload_all_the_same(thread: str) -> None:
    finding = CHECK.judge(host(CHECK, OFFLOADED | running(40, thread, kernel=True)), REALTIME)
    assert finding.verdict == "ok"
    assert (finding.read[1].where, finding.read[1].what) == (TICKLESS, "absent")


def test_a_kernel_that_can_do_neither_fails_as_check_3_does() -> None:
    """CONFIG_NO_HZ_FULL selects CONFIG_RCU_NOCB_CPU; without both the argument does nothing."""
    finding = CHECK.judge(host(CHECK, OFFLOADED), REALTIME)
    assert finding.verdict == "fail"
    assert "built without CONFIG_RCU_NOCB_CPU" in finding.text
    assert [step.kind for step in finding.steps] == ["advice"]
    tick = NOHZ_FULL.judge(host(NOHZ_FULL, booted("rcu_nocbs=2-7")), REALTIME)
    assert (tick.verdict, tick.read[0].what) == ("fail", "absent")
    assert "CONFIG_NO_HZ_FULL=y" in finding.steps[0].text
    assert "CONFIG_NO_HZ_FULL=y" in tick.steps[0].text


@pytest.mark.parametrize("processes", [KTHREADD, CONTAINED])
def test_where_check_3_wants_another_kernel_so_does_this(processes: dict[str, str]) -> None:
    finding = CHECK.judge(host(CHECK, booted("") | processes), REALTIME)
    assert finding.verdict == "fail"
    assert [step.kind for step in finding.steps] == ["advice"]
    assert "CONFIG_NO_HZ_FULL=y (check 3)" in finding.steps[0].text


def test_whether_it_can_is_unknown_in_a_container() -> None:
    view = host(CHECK, booted("rcu_nocbs=2-7") | CONTAINED)
    assert CHECK.judge(view, REALTIME).verdict == "unknown"


def test_offloaded_by_being_tickless_is_ok() -> None:
    files = booted("rcu_nocbs=2-3") | {TICKLESS: "4-7"}
    assert CHECK.judge(host(CHECK, files), REALTIME).verdict == "ok"


@pytest.mark.parametrize(
    ("argument", "left"), [("", "CPUs 2-7"), ("rcu_nocbs", "CPUs 2-7"), ("rcu_nocbs=2-6", "CPU 7")]
)
def test_others_fail(argument: str, left: str, says: Says) -> None:
    finding = CHECK.judge(host(CHECK, booted(argument) | {TICKLESS: "(null)"}), REALTIME)
    assert finding.verdict == "fail"
    assert finding.text == says(str(left))
    assert commands(finding) == ["grubby --update-kernel=ALL --args=rcu_nocbs=2-7"]


def test_a_list_that_is_none_fails(says: Says) -> None:
    finding = CHECK.judge(host(CHECK, booted("rcu_nocbs=7-2")), REALTIME)
    assert finding.verdict == "fail"
    assert finding.text == says("7-2")


def test_an_intent_without_it_does_not_apply() -> None:
    finding = CHECK.judge(host(CHECK, booted("")), intent())
    assert finding.verdict == "not-applicable"
    # In the words of check 3, and for the same reason.
    tick = NOHZ_FULL.judge(host(NOHZ_FULL, booted("")), intent())
    assert finding.text.endswith("(hints.realtime)")
    assert tick.text.endswith("(hints.realtime)")


def test_what_may_not_be_read_is_unknown() -> None:
    files = booted("")
    del files[CMDLINE]
    view = host(CHECK, files, forbidden=[CMDLINE])
    assert CHECK.judge(view, REALTIME).verdict == "unknown"


def test_a_list_that_the_kernel_cannot_read_is_to_be_replaced() -> None:
    finding = CHECK.judge(host(CHECK, booted("rcu_nocbs=2-x") | {TICKLESS: ""}), REALTIME)
    assert finding.verdict == "fail"
    assert commands(finding) == ["grubby --update-kernel=ALL --args=rcu_nocbs=2-7"]
