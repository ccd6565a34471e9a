"""Check 45: what only the Kubernetes API knows."""

from plimsoll.tune.audit.checks.exec_probes import CHECK
from tests.unit.tune.audit.hosts import host
from tests.unit.tune.audit.intents import intent


def test_a_host_cannot_tell_and_says_who_can() -> None:
    for asked in (None, intent()):
        finding = CHECK.judge(host(CHECK, {}), asked)
        assert finding.verdict == "not-applicable"
        assert "Kubernetes API" in finding.text
