"""Check 24. Values: Linux, Documentation/scheduler/sched-rt-group.rst."""

from plimsoll.tune.audit.checks.realtime_limit import CHECK
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.intents import intent
from tests.worded.says import Says

RUNTIME = "/proc/sys/kernel/sched_rt_runtime_us"
PERIOD = "/proc/sys/kernel/sched_rt_period_us"
DEFAULT = {RUNTIME: "950000\n", PERIOD: "1000000\n"}
UNLIMITED = intent(scheduling={"rt_runtime_us": -1})


def test_no_limit_as_requested_is_ok() -> None:
    assert CHECK.judge(host(CHECK, DEFAULT | {RUNTIME: "-1\n"}), UNLIMITED).verdict == "ok"


def test_the_default_fails_where_none_is_expected(says: Says) -> None:
    finding = CHECK.judge(host(CHECK, DEFAULT), UNLIMITED)
    assert finding.verdict == "fail"
    # 1000 ms - 950 ms.
    assert finding.text == says("50")
    assert commands(finding) == ["sysctl -w kernel.sched_rt_runtime_us=-1"]


def test_no_limit_fails_where_one_is_expected(says: Says) -> None:
    requested = intent(scheduling={"rt_runtime_us": 950000})
    finding = CHECK.judge(host(CHECK, DEFAULT | {RUNTIME: "-1"}), requested)
    assert finding.verdict == "fail"
    assert finding.text == says()


def test_pollers_at_fifo_make_the_limit_a_warning() -> None:
    requested = intent(scheduling={"fifo_priority": 2})
    assert CHECK.judge(host(CHECK, DEFAULT), requested).verdict == "warn"
    whole = DEFAULT | {RUNTIME: "1000000"}
    assert CHECK.judge(host(CHECK, whole), requested).verdict == "ok"


def test_not_requested_for_is_not_judged() -> None:
    assert CHECK.judge(host(CHECK, DEFAULT), intent()).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    assert CHECK.judge(host(CHECK, {}, forbidden=[RUNTIME]), UNLIMITED).verdict == "unknown"
