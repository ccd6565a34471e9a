"""Check 13. States and latencies are those of intel_idle's table for Skylake servers."""

import pytest

from plimsoll.tune.audit.checks.idle_states import CHECK
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.machines import AMD, CMDLINE, CPUINFO, INTEL, ONLINE

HIGH_POWER = intent(hints={"high_power": "on"})
DRIVER = "/sys/devices/system/cpu/cpuidle/current_driver"
SKYLAKE = (("POLL", 0), ("C1", 2), ("C1E", 10), ("C6", 133))
ACPI_C1 = (("POLL", 0), ("C1", 1))
AMD_ACPI = (("POLL", 0), ("C1", 1), ("C2", 400))
GUEST = (("POLL", 0), ("haltpoll", 1))


def boot(
    states: tuple[tuple[str, int], ...], disabled: int = 99, cpuinfo: str = INTEL
) -> dict[str, str]:
    """Eight CPUs; `disabled` is the first state that is."""
    files = {CMDLINE: "quiet", CPUINFO: cpuinfo, ONLINE: "0-7", DRIVER: "intel_idle"}
    for cpu in range(8):
        for index, (name, latency) in enumerate(states):
            folder = f"/sys/devices/system/cpu/cpu{cpu}/cpuidle/state{index}"
            files[f"{folder}/name"] = name
            files[f"{folder}/latency"] = str(latency)
            files[f"{folder}/disable"] = str(int(index >= disabled))
    return files


@pytest.mark.parametrize("states", [(), ACPI_C1, GUEST, SKYLAKE[:2]])
def test_no_deep_state_is_ok(states: tuple[tuple[str, int], ...]) -> None:
    assert CHECK.judge(host(CHECK, boot(states)), HIGH_POWER).verdict == "ok"


def test_disabled_deep_states_are_ok() -> None:
    finding = CHECK.judge(host(CHECK, boot(SKYLAKE, disabled=2)), HIGH_POWER)
    assert finding.verdict == "ok"
    assert finding.read[1].what == "POLL 0 us, C1 2 us, C1E 10 us (disabled), C6 133 us (disabled)"


def test_deep_states_fail() -> None:
    finding = CHECK.judge(host(CHECK, boot(SKYLAKE)), HIGH_POWER)
    assert finding.verdict == "fail"
    assert finding.text == "isolated CPUs 2-7 may enter C1E, C6, with up to 133 us to wake"
    assert commands(finding) == [
        "cpupower -c 2-7 idle-set -D 3",
        "grubby --update-kernel=ALL '--args=processor.max_cstate=1 intel_idle.max_cstate=0'",
    ]


def test_amd_has_c2_and_another_argument() -> None:
    finding = CHECK.judge(host(CHECK, boot(AMD_ACPI, cpuinfo=AMD)), HIGH_POWER)
    assert finding.verdict == "fail"
    assert "may enter C2" in finding.text
    assert "grubby --update-kernel=ALL --args=processor.max_cstate=1" in commands(finding)


def test_c_states_off_in_the_firmware_asks_for_the_same() -> None:
    declared = intent(bios={"c_states": "off"})
    assert CHECK.judge(host(CHECK, boot(SKYLAKE)), declared).verdict == "fail"


def test_an_intent_that_allows_them_does_not_apply() -> None:
    assert CHECK.judge(host(CHECK, boot(SKYLAKE)), intent()).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    path = "/sys/devices/system/cpu/cpu2/cpuidle/state0/latency"
    files = boot(ACPI_C1)
    del files[path]
    view = host(CHECK, files, forbidden=[path])
    assert CHECK.judge(view, HIGH_POWER).verdict == "unknown"
