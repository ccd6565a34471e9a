"""Check 44. The kubelet's state file: pkg/kubelet/cm/cpumanager/state, version 2."""

import json

from plimsoll.tune.audit.checks.exclusive_cpus import CHECK
from plimsoll.tune.audit.expected_argument import NONE_PRESENT
from tests.unit.tune.audit.hosts import host_of_8
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.machines import ONLINE
from tests.unit.tune.audit.pods import EXPECTED, UID, workload
from tests.unit.tune.audit.processes import CONTAINED, KTHREADD, process
from tests.worded.says import Says

STATE = "/var/lib/kubelet/cpu_manager_state"
INTENT = intent(**EXPECTED)
SHELL = process(77, "bash", cpus="0-1", cgroup="0::/")


def state(policy: str = "static", uid: str = UID) -> dict[str, str]:
    message = {
        "policyName": policy,
        "defaultCpuSet": "0-1,4-7",
        "entries": {uid: {"testpmd": "2-3"}},
        "checksum": 1353318690,
    }
    return {STATE: json.dumps(message)}


def test_cpus_of_its_own_are_ok() -> None:
    assert CHECK.judge(host_of_8(CHECK, workload() | SHELL | state()), INTENT).verdict == "ok"


def test_a_process_of_the_host_needs_no_kubelet() -> None:
    assert CHECK.judge(host_of_8(CHECK, workload("/") | SHELL), INTENT).verdict == "ok"


def test_strangers_on_the_same_cpus_are_warned(says: Says) -> None:
    stranger = process(78, "cron", cpus="0-7", cgroup="0::/")
    finding = CHECK.judge(host_of_8(CHECK, workload("/") | SHELL | stranger), INTENT)
    assert finding.verdict == "warn"
    assert finding.text == says("2-3", "cron", "78")


def test_a_pod_to_which_the_kubelet_gave_nothing_fails(says: Says) -> None:
    finding = CHECK.judge(host_of_8(CHECK, workload() | state(uid="another")), INTENT)
    assert finding.verdict == "fail"
    assert finding.text == says("900")
    assert CHECK.judge(host_of_8(CHECK, workload() | state("none")), INTENT).verdict == "fail"


def test_threads_that_are_not_pinned_fail(says: Says) -> None:
    loose = KTHREADD | process(900, "dpdk-testpmd", cpus="0-7", cgroup="0::/")
    finding = CHECK.judge(host_of_8(CHECK, loose), INTENT)
    assert finding.verdict == "fail"
    assert finding.text == says("dpdk-testpmd", "900")


def test_where_no_isolated_cpu_is_online_it_does_not_apply() -> None:
    loose = KTHREADD | process(900, "dpdk-testpmd", cpus="0-1", cgroup="0::/")
    finding = CHECK.judge(host_of_8(CHECK, loose | {ONLINE: "0-1"}), INTENT)
    assert (finding.verdict, finding.text) == ("not-applicable", NONE_PRESENT)


def test_where_nothing_runs_it_does_not_apply() -> None:
    assert CHECK.judge(host_of_8(CHECK, KTHREADD), INTENT).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    view = host_of_8(CHECK, workload(), forbidden=[STATE])
    assert CHECK.judge(view, INTENT).verdict == "unknown"
    for nonsense in ("", "[]", "{}", '{"policyName": "static", "entries": 5}', "[" * 100_000):
        files = workload() | {STATE: nonsense}
        assert CHECK.judge(host_of_8(CHECK, files), INTENT).verdict == "unknown"
    assert CHECK.judge(host_of_8(CHECK, CONTAINED), INTENT).verdict == "unknown"
