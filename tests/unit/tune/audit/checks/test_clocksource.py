"""Check 21: the clocksource. Flags as /proc/cpuinfo lists them on x86."""

import pytest

from plimsoll.tune.audit.checks.clocksource import CHECK
from tests.unit.tune.audit.hosts import commands, host
from tests.worded.says import Says

FOLDER = "/sys/devices/system/clocksource/clocksource0"
STEADY = "flags\t\t: fpu tsc constant_tsc nonstop_tsc\n"


def files(current: str, available: str, cpuinfo: str = STEADY) -> dict[str, str]:
    return {
        f"{FOLDER}/current_clocksource": f"{current}\n",
        f"{FOLDER}/available_clocksource": f"{available} \n",
        "/proc/cpuinfo": cpuinfo,
    }


def test_a_steady_tsc_is_ok() -> None:
    assert CHECK.judge(host(CHECK, files("tsc", "tsc hpet acpi_pm")), None).verdict == "ok"


@pytest.mark.parametrize(
    ("available", "facts", "steps"),
    [
        (
            "tsc hpet acpi_pm",
            ("tsc",),
            [f"echo tsc > {FOLDER}/current_clocksource"],
        ),
        ("hpet acpi_pm", (), []),
    ],
)
def test_a_clock_of_the_chipset_fails(
    available: str, facts: tuple[str, ...], steps: list[str], says: Says
) -> None:
    finding = CHECK.judge(host(CHECK, files("hpet", available)), None)
    assert finding.verdict == "fail"
    assert finding.text == says(*facts)
    assert commands(finding) == steps


def test_a_guests_scaled_clock_is_warned() -> None:
    guest = "flags\t\t: fpu tsc constant_tsc nonstop_tsc hypervisor\n"
    finding = CHECK.judge(host(CHECK, files("kvm-clock", "kvm-clock tsc", guest)), None)
    assert finding.verdict == "warn"
    assert "kvm-clock" in finding.text


def test_a_tsc_that_may_stop_is_warned() -> None:
    flags = "flags\t\t: fpu tsc constant_tsc hypervisor\n"
    finding = CHECK.judge(host(CHECK, files("tsc", "tsc", flags)), None)
    assert finding.verdict == "warn"
    assert "nonstop_tsc" in finding.text
    assert "constant_tsc" not in finding.text
    assert "invtsc" in finding.steps[0].text


def test_arm_has_no_tsc() -> None:
    arm = files("arch_sys_counter", "arch_sys_counter", "CPU implementer\t: 0x41\n")
    assert CHECK.judge(host(CHECK, arm), None).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    current = f"{FOLDER}/current_clocksource"
    view = host(CHECK, {"/proc/cpuinfo": STEADY}, forbidden=[current])
    assert CHECK.judge(view, None).verdict == "unknown"
