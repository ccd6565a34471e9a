"""Check 41: quality of service and whole cores."""

from plimsoll.tune.audit.checks.guaranteed_pod import CHECK
from tests.unit.tune.audit.hosts import host
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.pods import BURSTABLE, EXPECTED, ROOT, SCOPE, workload
from tests.unit.tune.audit.processes import CONTAINED, KTHREADD
from tests.worded.says import Says

INTENT = intent(**EXPECTED)
CPUSET = {f"{ROOT}{SCOPE}/cpuset.cpus.effective": "2-3\n"}
ONLINE = {"/sys/devices/system/cpu/online": "0-7\n"}
# CPU n and n + 1 share a core.
CORES = {cpu: f"{cpu - cpu % 2}-{cpu - cpu % 2 + 1}" for cpu in range(8)}
SMT = {
    f"/sys/devices/system/cpu/cpu{cpu}/topology/core_cpus_list": core for cpu, core in CORES.items()
}


def test_guaranteed_with_whole_cores_is_ok() -> None:
    finding = CHECK.judge(host(CHECK, workload() | CPUSET | ONLINE | SMT), INTENT)
    assert finding.verdict == "ok"
    assert finding.text == "dpdk-testpmd (900) has CPUs 2-3 to itself"


def test_version_1_has_another_file() -> None:
    files = workload(version=1) | ONLINE | {f"{ROOT}/cpuset{SCOPE}/cpuset.cpus": "2-3\n"}
    assert CHECK.judge(host(CHECK, files), INTENT).verdict == "ok"


def test_burstable_fails(says: Says) -> None:
    finding = CHECK.judge(host(CHECK, workload(BURSTABLE) | ONLINE), INTENT)
    assert finding.verdict == "fail"
    assert finding.text == says("900")


def test_a_guaranteed_pod_on_shared_cpus_fails(says: Says) -> None:
    """Two CPUs and a half are no whole number: the pod gets the shared pool."""
    shared = {f"{ROOT}{SCOPE}/cpuset.cpus.effective": "0-7\n"}
    finding = CHECK.judge(host(CHECK, workload() | shared | ONLINE), INTENT)
    assert finding.verdict == "fail"
    assert finding.text == says("0-1")


def test_half_a_core_is_warned(says: Says) -> None:
    odd = {f"{ROOT}{SCOPE}/cpuset.cpus.effective": "2-4\n"}
    finding = CHECK.judge(host(CHECK, workload() | odd | ONLINE | SMT), INTENT)
    assert finding.verdict == "warn"
    assert finding.text == says("4")


def test_a_process_of_the_host_does_not_apply(says: Says) -> None:
    finding = CHECK.judge(host(CHECK, workload("/") | ONLINE), INTENT)
    assert finding.verdict == "not-applicable"
    assert finding.text == says()
    assert CHECK.judge(host(CHECK, KTHREADD), INTENT).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    where = f"{ROOT}{SCOPE}/cpuset.cpus.effective"
    view = host(CHECK, workload() | ONLINE, forbidden=[where])
    assert CHECK.judge(view, INTENT).verdict == "unknown"
    assert CHECK.judge(host(CHECK, CONTAINED), INTENT).verdict == "unknown"
