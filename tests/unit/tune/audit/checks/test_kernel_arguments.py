"""Check 8. What each platform renders is worked out from the design's list of arguments."""

from plimsoll.tune.audit.checks.kernel_arguments import CHECK
from plimsoll.tune.intent.load import load_preset
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.machines import CMDLINE, CPUINFO, INTEL
from tests.worded.says import Says

REALTIME = intent(hints={"realtime": "on"})


def boot(arguments: str) -> dict[str, str]:
    return {CMDLINE: f"ro quiet {arguments}", CPUINFO: INTEL}


def test_all_of_them_are_ok() -> None:
    view = host(CHECK, boot("nohz=on skew_tick=1 nosoftlockup tsc=reliable isolcpus=9"))
    assert CHECK.judge(view, REALTIME).verdict == "ok"


def test_the_missing_and_the_different_fail_and_are_named(says: Says) -> None:
    finding = CHECK.judge(host(CHECK, boot("nohz=on skew_tick=0 nosoftlockup")), REALTIME)
    assert finding.verdict == "fail"
    assert finding.text == says("skew_tick", "0", "tsc")
    assert finding.expected == "skew_tick=1 tsc=reliable"
    assert commands(finding) == ["grubby --update-kernel=ALL '--args=skew_tick=1 tsc=reliable'"]


def test_the_last_of_several_counts() -> None:
    view = host(CHECK, boot("nohz=on nosoftlockup tsc=reliable skew_tick=1 skew_tick=0"))
    assert CHECK.judge(view, REALTIME).text == "skew_tick is 0"


def test_a_list_may_be_written_in_two_ways_and_a_dash_for_an_underscore() -> None:
    declared = intent(kernel={"arguments": ["housekeeping_on=0,1"]})
    assert CHECK.judge(host(CHECK, boot("housekeeping-on=0-1")), declared).verdict == "ok"


def test_the_command_line_of_the_article_with_trex() -> None:
    """Its additionalKernelArgs, and of what the operator adds what has no check of its own."""
    line = (
        "nohz=on skew_tick=1 audit=0 processor.max_cstate=1 idle=poll "
        "intel_idle.max_cstate=0 mce=off tsc=reliable rcu_nocb_poll "
        "rcupdate.rcu_normal_after_boot=0 intel_pstate=disable"
    )
    declared = load_preset("openshift-deterministic")
    assert CHECK.judge(host(CHECK, boot(line)), declared).verdict == "ok"
    without = CHECK.judge(host(CHECK, boot(line.replace("idle=poll ", ""))), declared)
    assert (without.verdict, without.text) == ("fail", "idle is missing")


def test_an_intent_that_implies_none_does_not_apply() -> None:
    assert CHECK.judge(host(CHECK, boot("")), intent()).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    view = host(CHECK, {CPUINFO: INTEL}, forbidden=[CMDLINE])
    assert CHECK.judge(view, REALTIME).verdict == "unknown"
