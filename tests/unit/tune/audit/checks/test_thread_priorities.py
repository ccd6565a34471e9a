"""Check 28: who runs before whom. Priorities by sched(7); 11 is the Node Tuning Operator's."""

import pytest

from plimsoll.tune.audit.checks.thread_priorities import CHECK
from tests.unit.tune.audit.hosts import commands, host_of_8
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.processes import CONTAINED, KTHREADD, process, stat
from tests.worded.says import Says

SOFTIRQD = process(30, "ksoftirqd/3", cpus="3", kernel=True)
RAISED = process(30, "ksoftirqd/3", cpus="3", kernel=True, fifo=11)
OPENSHIFT = intent(platform="openshift", pool={"role": "worker"})


def poller(fifo: int, cpus: str = "3") -> dict[str, str]:
    """A process whose worker has one isolated CPU."""
    return process(900, "dpdk-testpmd", cpus=cpus, fifo=fifo)


def test_pollers_of_ordinary_priority_are_ok() -> None:
    view = host_of_8(CHECK, KTHREADD | SOFTIRQD | poller(0))
    assert CHECK.judge(view, intent()).verdict == "ok"


def test_a_fifo_poller_starves_softirqs() -> None:
    finding = CHECK.judge(host_of_8(CHECK, KTHREADD | SOFTIRQD | poller(1)), intent())
    assert finding.verdict == "warn"
    assert "dpdk-testpmd (900) polls at SCHED_FIFO 1 before ksoftirqd/3" in finding.text
    assert commands(finding) == ["chrt -o -p 0 900"]
    assert "chrt -f -p 2 for 30" in finding.steps[0].text


def test_below_the_kernels_threads_as_requested_is_ok() -> None:
    """The article's settings: testpmd at 2, the kernel's own threads at 11."""
    requested = intent(scheduling={"fifo_priority": 2})
    assert CHECK.judge(host_of_8(CHECK, KTHREADD | RAISED | poller(2)), requested).verdict == "ok"


def test_above_the_kernels_threads_is_warned_though_requested(says: Says) -> None:
    requested = intent(scheduling={"fifo_priority": 20})
    finding = CHECK.judge(host_of_8(CHECK, KTHREADD | RAISED | poller(20)), requested)
    assert finding.verdict == "warn"
    assert finding.text == says("ksoftirqd/3")


def test_of_one_priority_fifo_lets_nothing_else_run() -> None:
    """sched(7): a SCHED_FIFO thread runs until it blocks, yields or a higher one comes."""
    requested = intent(scheduling={"fifo_priority": 11})
    finding = CHECK.judge(host_of_8(CHECK, KTHREADD | RAISED | poller(11)), requested)
    assert finding.verdict == "warn"
    assert "chrt -f -p 12 for 30" in finding.steps[0].text


def test_helpers_next_to_a_poller_may_be_ordinary(says: Says) -> None:
    """DPDK's control threads share the main lcore where all CPUs have lcores."""
    requested = intent(scheduling={"fifo_priority": 2}, expected_processes=["dpdk-testpmd"])
    helper = process(900, "dpdk-testpmd", cpus="3", fifo=2)
    folder = "/proc/900/task/901"
    helper[f"{folder}/stat"] = stat(901, "dpdk-intr")
    helper[f"{folder}/status"] = "Name:\tdpdk-intr\nCpus_allowed_list:\t3\n"
    assert CHECK.judge(host_of_8(CHECK, KTHREADD | RAISED | helper), requested).verdict == "ok"
    # On a CPU of its own it may be the one that polls.
    helper[f"{folder}/status"] = "Name:\tdpdk-intr\nCpus_allowed_list:\t4\n"
    finding = CHECK.judge(host_of_8(CHECK, KTHREADD | RAISED | helper), requested)
    assert finding.verdict == "fail"
    assert finding.text == says("dpdk-intr", "901", "SCHED_FIFO 2")


def test_a_poller_without_the_priority_requested_for_fails() -> None:
    requested = intent(scheduling={"fifo_priority": 2}, expected_processes=["dpdk-testpmd"])
    finding = CHECK.judge(host_of_8(CHECK, KTHREADD | RAISED | poller(0)), requested)
    assert finding.verdict == "fail"
    assert commands(finding) == ["chrt -f -p 2 900"]


def test_fifo_threads_of_housekeeping_are_left_alone() -> None:
    view = host_of_8(CHECK, KTHREADD | SOFTIRQD | poller(50, cpus="0-1"))
    assert CHECK.judge(view, intent()).verdict == "ok"


@pytest.mark.parametrize(("threads", "verdict"), [(RAISED, "ok"), (SOFTIRQD, "warn")])
def test_openshifts_profile_raises_the_kernels_threads(
    threads: dict[str, str], verdict: str
) -> None:
    assert CHECK.judge(host_of_8(CHECK, KTHREADD | threads), OPENSHIFT).verdict == verdict


def test_without_an_intent_it_does_not_apply() -> None:
    assert CHECK.judge(host_of_8(CHECK, KTHREADD), None).verdict == "not-applicable"


def test_a_container_shows_not_the_hosts_processes(says: Says) -> None:
    finding = CHECK.judge(host_of_8(CHECK, CONTAINED), intent())
    assert finding.verdict == "unknown"
    assert finding.text == says("/proc/2/stat")
