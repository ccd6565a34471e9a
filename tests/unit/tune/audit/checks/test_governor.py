"""Check 12. Format: Linux, Documentation/admin-guide/pm/cpufreq.rst."""

from plimsoll.tune.audit.checks.governor import CHECK
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.machines import ONLINE
from tests.worded.says import Says

HIGH_POWER = intent(hints={"high_power": "on"})


def governors(*names: str) -> dict[str, str]:
    files = {ONLINE: f"0-{len(names) - 1}"}
    for cpu, name in enumerate(names):
        files[f"/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"] = f"{name}\n"
    return files


def test_performance_on_isolated_cpus_is_ok() -> None:
    files = governors(*["powersave"] * 2, *["performance"] * 6)
    assert CHECK.judge(host(CHECK, files), HIGH_POWER).verdict == "ok"


def test_another_governor_fails(says: Says) -> None:
    files = governors(*["performance"] * 5, "schedutil", "schedutil", "performance")
    finding = CHECK.judge(host(CHECK, files), HIGH_POWER)
    assert finding.verdict == "fail"
    assert finding.text == says("5-6", "schedutil")
    assert commands(finding) == [
        "for cpu in 5 6; do echo performance > "
        "/sys/devices/system/cpu/cpu$cpu/cpufreq/scaling_governor; done"
    ]


def test_openshift_sets_it_always_unless_pods_choose() -> None:
    files = governors(*["powersave"] * 8)
    openshift = intent(platform="openshift", pool={"role": "worker"})
    assert CHECK.judge(host(CHECK, files), openshift).verdict == "fail"
    choosing = openshift.model_copy(update={"hints": intent(hints={"per_pod_power": "on"}).hints})
    assert CHECK.judge(host(CHECK, files), choosing).verdict == "not-applicable"


def test_where_no_one_asks_or_no_driver_governs_it_does_not_apply() -> None:
    files = governors(*["powersave"] * 8)
    assert CHECK.judge(host(CHECK, files), intent()).verdict == "not-applicable"
    assert CHECK.judge(host(CHECK, {ONLINE: "0-7"}), HIGH_POWER).verdict == "not-applicable"
    assert CHECK.judge(host(CHECK, {ONLINE: "0-1"}), HIGH_POWER).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    path = "/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor"
    view = host(CHECK, {ONLINE: "0-7"}, forbidden=[path])
    assert CHECK.judge(view, HIGH_POWER).verdict == "unknown"
