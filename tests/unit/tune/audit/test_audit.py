"""An audit of a whole small host."""

from plimsoll.tune.audit.audit import audit
from plimsoll.tune.audit.checks.init_affinity import CHECK as INIT_AFFINITY
from plimsoll.tune.audit.checks.turbo import CHECK as TURBO
from plimsoll.tune.audit.checks.watchdog import CHECK as WATCHDOG
from plimsoll.tune.audit.checks.workqueues import CHECK as WORKQUEUES
from plimsoll.tune.host.capture.capture import CapturedHost
from plimsoll.tune.host.view.unread import Unread
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.machines import ONLINE

VIEW = CapturedHost(
    files={
        "/proc/sys/kernel/hostname": "worker-1\n",
        "/proc/sys/kernel/osrelease": "6.1.0\n",
        ONLINE: "0-7\n",
        "/proc/1/status": "Name:\tinit\nCpus_allowed_list:\t0-7\n",
        "/sys/devices/virtual/workqueue/cpumask": "3",
    },
    unread=[Unread("/proc/cpuinfo", "forbidden")],
    where="worker-1.tar.gz",
)
CHECKS = (INIT_AFFINITY, WORKQUEUES, WATCHDOG, TURBO)


def test_it_names_the_host_and_counts_verdicts() -> None:
    done = audit(VIEW, intent(), checks=CHECKS)
    assert (done.source, done.host, done.kernel) == ("worker-1.tar.gz", "worker-1", "6.1.0")
    assert done.intent == "declared"
    assert done.counts == {"fail": 1, "warn": 0, "unknown": 1, "ok": 1, "not-applicable": 1}


def test_the_worst_comes_first() -> None:
    done = audit(VIEW, intent(), checks=CHECKS)
    assert [finding.number for finding in done.by_severity] == [5, 7, 6, 15]
    assert [finding.number for finding in done.findings] == [5, 6, 7, 15]


def test_without_an_intent_each_check_that_needs_one_says_why() -> None:
    done = audit(VIEW, None, assumed="none is declared", checks=CHECKS)
    assert done.intent is None
    assert {finding.text for finding in done.findings} == {"none is declared"}
    assert done.counts["not-applicable"] == 4
