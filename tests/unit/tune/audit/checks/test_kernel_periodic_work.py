"""Check 25. The expected values are those of TuneD's cpu-partitioning."""

import pytest

from plimsoll.tune.audit.checks.kernel_periodic_work import CHECK
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.intents import intent

STAT = "/proc/sys/vm/stat_interval"
HUNG = "/proc/sys/kernel/hung_task_timeout_secs"
INTENT = intent(scheduling={"stat_interval_s": 10, "hung_task_timeout_s": 600})


@pytest.mark.parametrize(("stat", "hung"), [("10", "600"), ("60", "1200"), ("10", "0")])
def test_as_seldom_or_seldomer_is_ok(stat: str, hung: str) -> None:
    assert CHECK.judge(host(CHECK, {STAT: stat, HUNG: hung}), INTENT).verdict == "ok"


def test_the_defaults_fail() -> None:
    finding = CHECK.judge(host(CHECK, {STAT: "1\n", HUNG: "120\n"}), INTENT)
    assert finding.verdict == "fail"
    assert commands(finding) == [
        "sysctl -w vm.stat_interval=10",
        "sysctl -w kernel.hung_task_timeout_secs=600",
    ]


def test_a_kernel_that_looks_for_no_hung_tasks_is_ok() -> None:
    assert CHECK.judge(host(CHECK, {STAT: "10"}), INTENT).verdict == "ok"


def test_not_requested_for_is_not_judged() -> None:
    view = host(CHECK, {STAT: "1", HUNG: "120"})
    assert CHECK.judge(view, intent()).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    view = host(CHECK, {HUNG: "600"}, forbidden=[STAT])
    assert CHECK.judge(view, INTENT).verdict == "unknown"
