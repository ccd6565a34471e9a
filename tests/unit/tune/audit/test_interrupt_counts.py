"""Check 34: counters since the boot. Formats: proc_interrupts(5), proc_softirqs(5)."""

from plimsoll.tune.audit.checks.interrupt_counts import CHECK
from tests.unit.tune.audit.hosts import host
from tests.unit.tune.audit.intents import intent
from tests.worded.says import Says

UPTIME = {"/proc/uptime": "1000.50 3800.25\n"}
INTENT = intent(cpus={"reserved": "0", "isolated": "1-2"})


def counts(device: int, timer: int) -> dict[str, str]:
    """Three CPUs; the isolated ones are the last two."""
    return {
        "/proc/interrupts": (
            "            CPU0       CPU1       CPU2\n"
            f" 24:        900          0          {device}  PCI-MSIX 1-edge eth0-rx\n"
            f"LOC:     100000     {timer}     {timer}   Local timer interrupts\n"
            "ERR:          0\n"
        ),
        "/proc/softirqs": (
            "                    CPU0       CPU1       CPU2\n"
            "          HI:          0          0          0\n"
            "       TIMER:       9000         12         10\n"
        ),
    }


def test_still_counters_are_ok(says: Says) -> None:
    """1001 in 1000.5 s is one a second."""
    finding = CHECK.judge(host(CHECK, UPTIME | counts(0, 1001)), INTENT)
    assert finding.verdict == "ok"
    assert finding.text == says("1")


def test_a_ticking_cpu_is_warned() -> None:
    finding = CHECK.judge(host(CHECK, UPTIME | counts(0, 1_000_500)), INTENT)
    assert finding.verdict == "warn"
    # 1,000,500 in 1000.5 s.
    assert "LOC 1e+03/s" in finding.text


def test_a_device_is_warned_however_seldom() -> None:
    finding = CHECK.judge(host(CHECK, UPTIME | counts(2001, 0)), INTENT)
    assert finding.verdict == "warn"
    # 2001 in 1000.5 s on one of the two.
    assert "device 1/s" in finding.text


def test_the_timer_of_an_arm_cpu_is_no_device_though_it_has_a_number() -> None:
    """As 6.1 prints it on a board with a GICv3; 500 in 1000.5 s on each of the two."""
    files = counts(0, 0) | {
        "/proc/interrupts": (
            "           CPU0       CPU1       CPU2\n"
            " 11:     250125        500        500     GICv3  27 Level     arch_timer\n"
            "IPI0:         9          0          0       Rescheduling interrupts\n"
        )
    }
    finding = CHECK.judge(host(CHECK, UPTIME | files), INTENT)
    assert finding.verdict == "ok"
    assert "arch_timer 0.5/s" in finding.read[0].what


def test_isolated_cpus_that_are_not_online_do_not_apply() -> None:
    away = intent(cpus={"reserved": "0", "isolated": "5"})
    assert CHECK.judge(host(CHECK, UPTIME | counts(0, 0)), away).verdict == "not-applicable"
    assert CHECK.judge(host(CHECK, UPTIME), None).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    files = counts(0, 0)
    view = host(CHECK, files, forbidden=["/proc/uptime"])
    assert CHECK.judge(view, INTENT).verdict == "unknown"
    strange = UPTIME | files | {"/proc/interrupts": "nothing\n"}
    assert CHECK.judge(host(CHECK, strange), INTENT).verdict == "unknown"
