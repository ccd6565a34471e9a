"""Check 29: stalld and chronyd, by the article's settings and the operator's."""

from plimsoll.tune.audit.checks.service_daemons import CHECK
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.processes import CONTAINED, KTHREADD, running
from tests.worded.says import Says

STALLD = running(700, "stalld")
CHRONYD = running(701, "chronyd")
INTENT = intent(services={"stalld": True, "chronyd": False})


def test_as_requested_is_ok() -> None:
    assert CHECK.judge(host(CHECK, KTHREADD | STALLD), INTENT).verdict == "ok"


def test_the_other_way_round_fails(says: Says) -> None:
    finding = CHECK.judge(host(CHECK, KTHREADD | CHRONYD), INTENT)
    assert finding.verdict == "fail"
    assert finding.text == says()
    assert "chronyd runs" in finding.text
    assert commands(finding) == [
        "systemctl enable --now stalld",
        "systemctl disable --now chronyd",
    ]


def test_on_openshift_the_remedy_is_a_patch() -> None:
    """Without a word of it the operator's real-time hint is on, and with it stalld."""
    requested = intent(platform="openshift", pool={"role": "worker"})
    finding = CHECK.judge(host(CHECK, KTHREADD), requested)
    assert finding.verdict == "fail"
    assert "service.stalld=start,enable" in finding.steps[0].text


def test_not_requested_for_is_not_judged() -> None:
    assert CHECK.judge(host(CHECK, KTHREADD | STALLD), intent()).verdict == "not-applicable"


def test_a_container_shows_not_the_hosts_processes() -> None:
    assert CHECK.judge(host(CHECK, CONTAINED), INTENT).verdict == "unknown"
