"""What an audit without an intent shows: the first command of a newcomer."""

import pytest

from plimsoll.tune.audit.audit import look
from plimsoll.tune.audit.finding import CheckFinding
from plimsoll.tune.audit.without_intent import assume_intent
from plimsoll.tune.host.capture.capture import CapturedHost
from plimsoll.tune.host.view.host_view import CommandOutput, HostView

CPU = "/sys/devices/system/cpu"
GOVERNOR = f"{CPU}/cpu{{}}/cpufreq/scaling_governor"
THP = "/sys/kernel/mm/transparent_hugepage/enabled"
NODE = "/sys/devices/system/node"
PAGES = f"{NODE}/node0/hugepages/hugepages-2048kB"
HOST = {
    "/proc/sys/kernel/hostname": "new",
    "/proc/cmdline": "ro quiet rd.iscsi.password=hunter2",
    "/proc/cpuinfo": "processor : 0\nflags : constant_tsc nonstop_tsc\n",
    f"{CPU}/online": "0-1",
    f"{CPU}/cpu0/topology/core_cpus_list": "0",
    f"{CPU}/cpu1/topology/core_cpus_list": "1",
    f"{NODE}/online": "0",
    f"{NODE}/node0/cpulist": "0-1",
    f"{NODE}/node0/meminfo": "Node 0 MemTotal: 8000000 kB",
    "/proc/meminfo": "MemTotal: 8000000 kB\nMemAvailable: 7000000 kB\n",
    GOVERNOR.format(0): "powersave",
    GOVERNOR.format(1): "powersave",
    THP: "[always] madvise never",
    "/sys/kernel/mm/ksm/run": "0",
    "/proc/swaps": "Filename Type Size Used Priority\n/dev/sda2 partition 100 0 -2\n",
    "/proc/sys/kernel/numa_balancing": "1",
    f"{PAGES}/nr_hugepages": "0",
    f"{PAGES}/free_hugepages": "0",
    "/proc/sys/kernel/sched_rt_runtime_us": "950000",
    "/proc/sys/kernel/sched_rt_period_us": "1000000",
    "/etc/tuned/active_profile": "balanced",
}


def looked(view: HostView) -> dict[str, CheckFinding]:
    return {each.name: each for each in look(view, None, "no intent is given").findings}


def changed(files: dict[str, str]) -> dict[str, CheckFinding]:
    return looked(CapturedHost(files=HOST | files))


def test_what_no_dataplane_wants_is_warned_of_and_never_fails() -> None:
    found = changed({})
    assert "fail" not in [each.verdict for each in found.values()]
    texts = {
        "governor": "the governor of CPUs 0-1 is powersave",
        "memory-merging": "transparent hugepages are made for all programs",
        "swap": "memory may be swapped out to /dev/sda2",
        "numa-balancing": "kernel.numa_balancing is 1",
        "hugepages": "no hugepages are set aside",
    }
    assert {name: found[name].verdict for name in texts} == dict.fromkeys(texts, "warn")
    for name, text in texts.items():
        assert text in found[name].text


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("governor", {GOVERNOR.format(cpu): "performance" for cpu in (0, 1)}),
        ("memory-merging", {THP: "always madvise [never]"}),
        ("swap", {"/proc/swaps": "Filename Type Size Used Priority\n"}),
        ("numa-balancing", {"/proc/sys/kernel/numa_balancing": "0"}),
        ("hugepages", {f"{PAGES}/nr_hugepages": "512", f"{PAGES}/free_hugepages": "500"}),
    ],
)
def test_what_every_dataplane_wants_is_ok(name: str, files: dict[str, str]) -> None:
    assert changed(files)[name].verdict == "ok"


def test_of_the_rest_what_was_read_is_shown() -> None:
    found = changed({})
    limit = found["realtime-limit"]
    assert limit.verdict == "not-applicable"
    assert [(each.where, each.what) for each in limit.read] == [
        ("/proc/sys/kernel/sched_rt_runtime_us", "950000"),
        ("/proc/sys/kernel/sched_rt_period_us", "1000000"),
    ]
    assert "sched_rt_runtime_us: 950000" in limit.text


def test_whether_tuneds_own_profile_holds_needs_no_intent() -> None:
    for status, verdict in ((0, "ok"), (1, "warn")):
        outputs = {"tuned-adm verify": CommandOutput(status, "Verification done")}
        found = looked(CapturedHost(files=HOST, outputs=outputs))["tuned-profile"]
        assert found.verdict == verdict
        assert ("/etc/tuned/active_profile", "balanced") in [
            (each.where, each.what) for each in found.read
        ]


def test_an_assumed_intent_comes_first() -> None:
    """What it says is judged by it, and of what it does not say the rest is shown."""
    view = CapturedHost(files=HOST | {"/proc/cmdline": "isolcpus=managed_irq,1"})
    assumed, source = assume_intent(view)
    found = {each.name: each for each in look(view, assumed, source).findings}
    assert found["isolcpus"].verdict == "ok"
    assert found["swap"].verdict == "warn"
    assert "sched_rt_runtime_us: 950000" in found["realtime-limit"].text


def test_equal_values_are_shown_together() -> None:
    latency = f"{CPU}/cpu{{}}/power/pm_qos_resume_latency_us"
    found = changed({latency.format(cpu): "0" if cpu < 3 else "n/a" for cpu in range(4)})
    assert "0 (3 of 4), n/a (1 of 4)" in found["resume-latency"].text


def test_no_secret_is_shown() -> None:
    everything = repr(changed({}))
    assert "hunter2" not in everything
    assert "rd.iscsi.password=<hidden>" in everything


def test_what_cannot_be_read_is_no_error() -> None:
    for each in looked(CapturedHost(files={})).values():
        assert each.verdict in ("not-applicable", "unknown", "ok", "warn"), each
