"""Check 32. Settings: irqbalance(1); masks: Documentation/core-api/irq/irq-affinity.rst."""

import pytest

from plimsoll.tune.audit.checks.irq_balancing import CHECK
from plimsoll.tune.audit.expected_argument import NONE_PRESENT
from tests.unit.tune.audit.hosts import commands, host_of_8
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.machines import ONLINE
from tests.unit.tune.audit.processes import CONTAINED, KTHREADD, running
from tests.worded.says import Says

DEFAULT = "/proc/irq/default_smp_affinity"
CONFIGURATION = "/etc/sysconfig/irqbalance"
ISOLATED = "/sys/devices/system/cpu/isolated"
# CPUs 0-1 of 8.
RESERVED = {DEFAULT: "03\n", ISOLATED: "\n"}
RUNNING = KTHREADD | running(500, "irqbalance")


def test_reserved_cpus_and_no_irqbalance_is_ok() -> None:
    assert CHECK.judge(host_of_8(CHECK, RESERVED | KTHREADD), intent()).verdict == "ok"


def test_all_cpus_fail(says: Says) -> None:
    finding = CHECK.judge(host_of_8(CHECK, KTHREADD | {DEFAULT: "ff\n"}), intent())
    assert finding.verdict == "fail"
    assert finding.text == says("2-7")
    assert commands(finding) == [f"echo 3 > {DEFAULT}"]


@pytest.mark.parametrize(
    ("setting", "verdict"),
    [
        ("IRQBALANCE_BANNED_CPUS=000000fc\n", "ok"),
        ('IRQBALANCE_BANNED_CPULIST="2-7"\n', "ok"),
        ("# IRQBALANCE_BANNED_CPUS=000000fc\n", "fail"),
        ("IRQBALANCE_BANNED_CPUS=0000000c\n", "fail"),
        ("IRQBALANCE_BANNED_CPUS=\n", "fail"),
        # irqbalance's parser gives up at what is not a hexadecimal digit, and bans what it had.
        ("IRQBALANCE_BANNED_CPUS=two\n", "fail"),
        ("IRQBALANCE_BANNED_CPUS=0xfc\n", "fail"),
        ("IRQBALANCE_BANNED_CPUS=fc-\n", "fail"),
        ("IRQBALANCE_BANNED_CPUS=1000000fc\n", "fail"),
        ("IRQBALANCE_BANNED_CPUS=0000000000fc\n", "ok"),
        ("IRQBALANCE_BANNED_CPUS=fc,0x1\n", "ok"),
        ("IRQBALANCE_BANNED_CPULIST=2-x\n", "fail"),
        ("IRQBALANCE_BANNED_CPULIST=2-7,x\n", "ok"),
        ("IRQBALANCE_BANNED_CPULIST=7-2\n", "fail"),
        ("IRQBALANCE_BANNED_CPULIST=0xfc\n", "fail"),
        # The mask comes before the list, and the last assignment before others.
        ("IRQBALANCE_BANNED_CPULIST=2-7\nIRQBALANCE_BANNED_CPUS=0c\n", "fail"),
        ("IRQBALANCE_BANNED_CPULIST=2-3\nIRQBALANCE_BANNED_CPUS=fc\n", "ok"),
        ("IRQBALANCE_BANNED_CPULIST=2-7\nIRQBALANCE_BANNED_CPUS=\n", "ok"),
        ("IRQBALANCE_BANNED_CPUS=fc\nIRQBALANCE_BANNED_CPUS=0c\n", "fail"),
        ("IRQBALANCE_BANNED_CPUS=fc\nIRQBALANCE_BANNED_CPUS=\n", "fail"),
        ("IRQBALANCE_BANNED_CPUS=<hidden>\n", "unknown"),
        # Its parsers give up at what follows a blank, and at the blank's own part.
        ('IRQBALANCE_BANNED_CPULIST="2-4, 5-7"\n', "fail"),
        ("IRQBALANCE_BANNED_CPULIST=2-7, 9\n", "ok"),
        ("IRQBALANCE_BANNED_CPULIST=2-7 ,9\n", "fail"),
        ('IRQBALANCE_BANNED_CPULIST=" 2-7 "\n', "ok"),
        ("IRQBALANCE_BANNED_CPUS=f c\n", "fail"),
        # systemd.exec(5): only whole lines are comments.
        ("IRQBALANCE_BANNED_CPULIST=2-7 # isolated\n", "fail"),
        ("IRQBALANCE_BANNED_CPUS=fc # isolated\n", "fail"),
        # An empty part of a list is CPU 0, except at its end.
        ("IRQBALANCE_BANNED_CPULIST=,2-7,\n", "ok"),
        ("IRQBALANCE_BANNED_CPULIST=\n", "fail"),
        ('IRQBALANCE_BANNED_CPULIST=""\n', "fail"),
        ('IRQBALANCE_BANNED_CPUS=" "\nIRQBALANCE_BANNED_CPULIST=2-7\n', "fail"),
        # systemd takes no such name of a variable.
        ("export IRQBALANCE_BANNED_CPULIST=2-7\n", "fail"),
        ("  IRQBALANCE_BANNED_CPULIST  =  2-7\n", "ok"),
        ("IRQBALANCE_BANNED_CPULIST=2-4,\\\n5-7\n", "ok"),
        ("IRQBALANCE_BANNED_CPULIST=2-7\r\n", "ok"),
        # Up to systemd 253 the comment goes on.
        ("# a note \\\nIRQBALANCE_BANNED_CPULIST=2-7\n", "unknown"),
    ],
)
def test_a_running_irqbalance_is_to_spare_the_isolated(setting: str, verdict: str) -> None:
    view = host_of_8(CHECK, RESERVED | RUNNING | {CONFIGURATION: setting})
    assert CHECK.judge(view, intent()).verdict == verdict


def test_a_mask_that_irqbalance_cannot_read_is_named(says: Says) -> None:
    setting = {CONFIGURATION: "IRQBALANCE_BANNED_CPUS=0xfc\n"}
    finding = CHECK.judge(host_of_8(CHECK, RESERVED | RUNNING | setting), intent())
    assert finding.text == says("2-7")
    assert finding.read[-1].what == says("IRQBALANCE_BANNED_CPUS=0xfc", "0x")


def test_unset_it_spares_what_the_kernel_isolates(says: Says) -> None:
    view = host_of_8(CHECK, RESERVED | RUNNING | {ISOLATED: "2-5\n"})
    finding = CHECK.judge(view, intent())
    assert finding.verdict == "fail"
    assert finding.text == says("6-7")
    view = host_of_8(
        CHECK,
        RESERVED | RUNNING | {ISOLATED: "2-5\n", "/sys/devices/system/cpu/nohz_full": "6-7\n"},
    )
    assert CHECK.judge(view, intent()).verdict == "ok"


def test_on_and_off_as_requested() -> None:
    off, on = intent(services={"irqbalance": False}), intent(services={"irqbalance": True})
    finding = CHECK.judge(host_of_8(CHECK, RESERVED | RUNNING), off)
    assert commands(finding) == ["systemctl disable --now irqbalance"]
    finding = CHECK.judge(host_of_8(CHECK, RESERVED | KTHREADD), on)
    assert commands(finding) == ["systemctl enable --now irqbalance"]


def test_without_isolated_cpus_only_the_service_is_judged() -> None:
    bare = RESERVED | {ONLINE: "0-1"}
    on = intent(services={"irqbalance": True})
    assert CHECK.judge(host_of_8(CHECK, bare | KTHREADD), on).verdict == "fail"
    for processes in (KTHREADD, RUNNING):
        finding = CHECK.judge(host_of_8(CHECK, bare | processes), intent())
        assert (finding.verdict, finding.text) == ("not-applicable", NONE_PRESENT)
    finding = CHECK.judge(host_of_8(CHECK, bare | RUNNING), on)
    assert (finding.verdict, finding.text) == ("not-applicable", NONE_PRESENT)


def test_isolated_cpus_that_are_not_online_need_no_ban() -> None:
    """The kernel's list of isolated CPUs ends with those that there are."""
    view = host_of_8(CHECK, RESERVED | RUNNING | {ONLINE: "0-3", ISOLATED: "2-3\n"})
    assert CHECK.judge(view, intent()).verdict == "ok"


def test_where_pods_ask_for_themselves_all_cpus_are_right() -> None:
    """OpenShift without globallyDisableIrqLoadBalancing: the operator writes 0."""
    requested = intent(platform="openshift", pool={"role": "worker"})
    zero = {CONFIGURATION: "IRQBALANCE_BANNED_CPUS=0\n"}
    assert CHECK.judge(host_of_8(CHECK, RUNNING | zero), requested).verdict == "ok"
    everything = {CONFIGURATION: "IRQBALANCE_BANNED_CPUS=fc\n"}
    assert CHECK.judge(host_of_8(CHECK, RUNNING | everything), requested).verdict == "warn"


def test_without_an_intent_it_does_not_apply() -> None:
    assert CHECK.judge(host_of_8(CHECK, RESERVED | KTHREADD), None).verdict == "not-applicable"


def test_a_container_shows_not_the_hosts_processes() -> None:
    assert CHECK.judge(host_of_8(CHECK, RESERVED | CONTAINED), intent()).verdict == "unknown"


def test_what_a_drop_in_of_systemd_bans_counts() -> None:
    """As plimsoll tune render writes it, for services without a configuration file."""
    folder = "/etc/systemd/system/irqbalance.service.d"
    drop_in = {
        f"{folder}/50-plimsoll.conf": "[Service]\nEnvironment=IRQBALANCE_BANNED_CPULIST=2-7\n"
    }
    finding = CHECK.judge(host_of_8(CHECK, RESERVED | RUNNING | drop_in), intent())
    assert finding.verdict == "ok"
    assert finding.read[-1].where == f"{folder}/50-plimsoll.conf"
    # systemd.exec(5): settings of EnvironmentFile= override those of Environment=.
    file = {CONFIGURATION: "IRQBALANCE_BANNED_CPULIST=2-3\n"}
    assert (
        CHECK.judge(host_of_8(CHECK, RESERVED | RUNNING | drop_in | file), intent()).verdict
        == "fail"
    )


GOOD = {CONFIGURATION: "IRQBALANCE_BANNED_CPULIST=2-7\n"}
BAN = "IRQBALANCE_BANNED_CPULIST=2-7"


@pytest.mark.parametrize(
    ("drop_in", "files", "verdict"),
    [
        (f"[Unit]\nEnvironment={BAN}\n", {}, "fail"),
        (f"Environment={BAN}\n", {}, "fail"),
        (f"[Service]\nEnvironment={BAN}\nEnvironment=\n", {}, "fail"),
        (f"[Service]\nEnvironment=\nEnvironment={BAN}\n", {}, "ok"),
        ("[Service]\nUnsetEnvironment=IRQBALANCE_BANNED_CPULIST\n", GOOD, "fail"),
        (f"[Service]\nUnsetEnvironment={BAN}\n", GOOD, "fail"),
        (f"[Service]\nUnsetEnvironment={BAN},8\n", GOOD, "ok"),
        ("[Service]\nUnsetEnvironment=IRQBALANCE_BANNED_CPULIST\nUnsetEnvironment=\n", GOOD, "ok"),
        ("[Service]\nEnvironmentFile=\n", GOOD, "fail"),
        (f"[Service]\nEnvironmentFile=\nEnvironmentFile=-{CONFIGURATION}\n", GOOD, "ok"),
        ("[Service]\nEnvironmentFile=/etc/another\n", GOOD, "unknown"),
        ("[Service]\nEnvironment=IRQBALANCE_BANNED_CPULIST=2-4, 5-7\n", {}, "fail"),
        (f'[Service]\nEnvironment="FOO=a b" "{BAN}"\n', {}, "ok"),
        (f"[Service]\nEnvironment=FOO=a \\\n  {BAN}\n", {}, "ok"),
        (f"[Service]\nEnvironment=FOO=%h\n# Environment=\nEnvironment={BAN}\n", {}, "ok"),
        (f'[Service]\nEnvironment="{BAN}\n', {}, "unknown"),
        ("[Service]\nEnvironment=IRQBALANCE_BANNED_CPULIST=2-%i\n", {}, "unknown"),
    ],
)
def test_drop_ins_count_as_systemd_reads_them(
    drop_in: str, files: dict[str, str], verdict: str
) -> None:
    """systemd.exec(5): an empty setting resets, and UnsetEnvironment= comes last."""
    path = "/etc/systemd/system/irqbalance.service.d/50-site.conf"
    view = host_of_8(CHECK, RESERVED | RUNNING | files | {path: drop_in})
    assert CHECK.judge(view, intent()).verdict == verdict


@pytest.mark.parametrize(
    ("setting", "verdict"),
    [
        # irqbalance up to 1.9.5 takes an empty list for none; later ones spare CPU 0 alone.
        ("IRQBALANCE_BANNED_CPULIST=\n", "unknown"),
        # systemd ignores the line, so that irqbalance spares what the kernel isolates.
        ("export IRQBALANCE_BANNED_CPULIST=2\n", "ok"),
        ("IRQBALANCE_BANNED_CPUS=\n", "ok"),
    ],
)
def test_what_the_kernel_isolates_counts_where_nothing_is_set(setting: str, verdict: str) -> None:
    files = RESERVED | RUNNING | {ISOLATED: "2-7\n", CONFIGURATION: setting}
    assert CHECK.judge(host_of_8(CHECK, files), intent()).verdict == verdict
