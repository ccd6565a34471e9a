"""Check 7. Formats: Linux, Documentation/admin-guide/sysctl/kernel.rst."""

from plimsoll.tune.audit.checks.watchdog import CHECK
from plimsoll.tune.audit.expected_argument import NONE_PRESENT
from tests.unit.tune.audit.hosts import commands, host, host_of_8
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.machines import ONLINE, booted
from tests.worded.says import Says

NMI = "/proc/sys/kernel/nmi_watchdog"
SOFT = "/proc/sys/kernel/soft_watchdog"
CPUS = "/proc/sys/kernel/watchdog_cpumask"
REALTIME = intent(hints={"realtime": "on"})


def boot(**files: str) -> dict[str, str]:
    names = {"nmi": NMI, "soft": SOFT, "cpus": CPUS}
    booted_files = {path: text for path, text in booted("").items() if "online" not in path}
    return booted_files | {names[name]: text for name, text in files.items()}


def test_off_is_ok() -> None:
    finding = CHECK.judge(host_of_8(CHECK, boot(nmi="0\n", soft="0\n", cpus="0-7\n")), REALTIME)
    assert finding.verdict == "ok"
    assert [(each.where, each.what) for each in finding.read] == [(NMI, "0"), (SOFT, "0")]


def test_a_kernel_without_watchdogs_is_ok() -> None:
    assert CHECK.judge(host_of_8(CHECK, boot()), REALTIME).verdict == "ok"


def test_nmi_watchdog_on_fails_where_it_is_to_be_off(says: Says) -> None:
    finding = CHECK.judge(host_of_8(CHECK, boot(nmi="1", soft="0", cpus="0-3")), REALTIME)
    assert finding.verdict == "fail"
    assert finding.text == says("2-3")
    assert commands(finding)[0] == "sysctl -w kernel.nmi_watchdog=0"


def test_nmi_watchdog_on_is_warned_where_it_spares_isolated_cpus(says: Says) -> None:
    """nohz_full narrows watchdog_cpumask at boot: lockup-watchdogs.rst."""
    finding = CHECK.judge(host_of_8(CHECK, boot(nmi="1", soft="1", cpus="0-1")), REALTIME)
    assert finding.verdict == "warn"
    assert finding.text == says()
    assert commands(finding) == ["sysctl -w kernel.nmi_watchdog=0"]


def test_where_no_isolated_cpu_is_online_it_does_not_apply() -> None:
    view = host(CHECK, boot(nmi="1", soft="1", cpus="0-1") | {ONLINE: "0-1\n"})
    finding = CHECK.judge(view, REALTIME)
    assert (finding.verdict, finding.text) == ("not-applicable", NONE_PRESENT)


def test_isolated_cpus_that_are_not_online_are_not_watched() -> None:
    """The mask is of all CPUs that there may be."""
    view = host(CHECK, boot(nmi="0", soft="1", cpus="0-7") | {ONLINE: "0-2\n"})
    assert CHECK.judge(view, REALTIME).text.startswith("isolated CPU 2: watched")


def test_openshift_turns_it_off_by_a_sysctl() -> None:
    declared = intent(platform="openshift", pool={"role": "worker"})
    assert CHECK.judge(host_of_8(CHECK, boot(nmi="1", cpus="0-7")), declared).verdict == "fail"


def test_watchdogs_on_isolated_cpus_are_warned_of(says: Says) -> None:
    finding = CHECK.judge(host_of_8(CHECK, boot(nmi="1", soft="1", cpus="0-3")), intent())
    assert finding.verdict == "warn"
    assert finding.text == says("2-3")
    assert commands(finding) == ["sysctl -w kernel.watchdog_cpumask=0-1"]


def test_watchdogs_on_housekeeping_cpus_are_ok_where_the_intent_leaves_them_on() -> None:
    view = host_of_8(CHECK, boot(nmi="1", soft="1", cpus="0-1"))
    assert CHECK.judge(view, intent()).verdict == "ok"


def test_without_an_intent_it_does_not_apply() -> None:
    finding = CHECK.judge(host_of_8(CHECK, boot(nmi="1")), None, "none is declared")
    assert (finding.verdict, finding.text) == ("not-applicable", "none is declared")


def test_what_may_not_be_read_is_unknown(says: Says) -> None:
    finding = CHECK.judge(host_of_8(CHECK, boot(soft="0"), forbidden=[NMI]), REALTIME)
    assert finding.verdict == "unknown"
    assert finding.text == says(str(NMI))


def test_a_list_that_is_none_is_unknown() -> None:
    finding = CHECK.judge(host_of_8(CHECK, boot(nmi="0", soft="1", cpus="f-f")), REALTIME)
    assert finding.verdict == "unknown"
    assert CPUS in finding.text
