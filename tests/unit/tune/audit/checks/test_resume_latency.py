"""Check 14. "0" is no limit and "n/a" none at all to wait: sysfs-devices-power."""

from plimsoll.tune.audit.checks.resume_latency import CHECK
from tests.unit.tune.audit.hosts import host
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.machines import ONLINE
from tests.worded.says import Says

POD = {
    "name": "testpmd",
    "cpus": 2,
    "memory": "1Gi",
    "annotations": {"cpu-c-states.crio.io": "disable"},
}
ASKING = intent(pods=[POD])


def latencies(*texts: str) -> dict[str, str]:
    files = {ONLINE: "0-7"}
    for cpu, text in enumerate(texts):
        files[f"/sys/devices/system/cpu/cpu{cpu}/power/pm_qos_resume_latency_us"] = text
    return files


def test_as_many_limits_as_one_pod_has_cpus_are_ok(says: Says) -> None:
    files = latencies("0", "0", "n/a", "n/a", "0", "0", "0", "0")
    finding = CHECK.judge(host(CHECK, files), ASKING)
    assert finding.verdict == "ok"
    assert finding.text == says("2-3")


def test_fewer_fail_and_limits_elsewhere_do_not_count(says: Says) -> None:
    files = latencies("n/a", "n/a", "10", "0", "0", "0", "0", "0")
    finding = CHECK.judge(host(CHECK, files), ASKING)
    assert finding.verdict == "fail"
    assert finding.text == says("1", "2")


def test_where_no_pod_asks_or_no_request_is_taken_it_does_not_apply() -> None:
    assert CHECK.judge(host(CHECK, latencies(*"00000000")), intent()).verdict == "not-applicable"
    assert CHECK.judge(host(CHECK, latencies()), ASKING).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    path = "/sys/devices/system/cpu/cpu2/power/pm_qos_resume_latency_us"
    view = host(CHECK, latencies(), forbidden=[path])
    assert CHECK.judge(view, ASKING).verdict == "unknown"
