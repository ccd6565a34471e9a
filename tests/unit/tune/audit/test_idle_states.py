"""Check 13. States and latencies are those of intel_idle's table for Skylake servers."""

import pytest

from plimsoll.tune.audit.checks.idle_states import CHECK
from plimsoll.tune.intent.load import load_preset
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.machines import AMD, CMDLINE, CPUINFO, INTEL, ONLINE
from tests.worded.says import Says

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


def test_deep_states_fail(says: Says) -> None:
    finding = CHECK.judge(host(CHECK, boot(SKYLAKE)), HIGH_POWER)
    assert finding.verdict == "fail"
    assert finding.text == says("2-7", "C1E", "C6", "133")
    assert commands(finding) == [
        *(
            f"for cpu in 2 3 4 5 6 7; do echo 1 > "
            f"/sys/devices/system/cpu/cpu$cpu/cpuidle/state{index}/disable; done"
            for index in (2, 3)
        ),
        "grubby --update-kernel=ALL '--args=processor.max_cstate=1 intel_idle.max_cstate=0'",
    ]


def test_c1e_is_deep_though_it_takes_no_longer_than_c1(says: Says) -> None:
    """On Sapphire Rapids intel_idle counts on 1 us for C1, 2 us for C1E and 290 us for C6."""
    states = (("POLL", 0), ("C1", 1), ("C1E", 2), ("C6", 290))
    finding = CHECK.judge(host(CHECK, boot(states, disabled=3)), HIGH_POWER)
    assert finding.verdict == "fail"
    assert finding.text == says("2-7", "C1E")
    assert commands(finding)[0] == (
        "for cpu in 2 3 4 5 6 7; do echo 1 > "
        "/sys/devices/system/cpu/cpu$cpu/cpuidle/state2/disable; done"
    )


def test_only_cpus_that_have_the_state_are_written_to() -> None:
    """Of a processor with two kinds of cores: CPUs 6 and 7 have no C6."""
    files = boot(SKYLAKE[:2] + SKYLAKE[3:])
    for cpu in (6, 7):
        files = {
            path: text for path, text in files.items() if f"cpu{cpu}/cpuidle/state2" not in path
        }
    finding = CHECK.judge(host(CHECK, files), HIGH_POWER)
    assert commands(finding)[0].startswith("for cpu in 2 3 4 5; do echo 1 > ")


@pytest.mark.parametrize("name", ["idle=poll", "idle=halt", "processor.max_cstate=1"])
def test_kernel_arguments_of_the_intents_own_ask_for_it_too(name: str) -> None:
    """As in openshift-sno-vdu, whose article has them and no hint."""
    declared = intent(kernel={"arguments": [name]})
    assert CHECK.judge(host(CHECK, boot(SKYLAKE)), declared).verdict == "fail"
    assert CHECK.judge(host(CHECK, boot(ACPI_C1)), declared).verdict == "ok"


def test_the_second_articles_preset_is_judged(says: Says) -> None:
    files = {ONLINE: "0-31", CMDLINE: "quiet", CPUINFO: INTEL, DRIVER: "intel_idle"}
    folder = "/sys/devices/system/cpu/cpu18/cpuidle/state1"
    state = {f"{folder}/name": "C6", f"{folder}/latency": "133", f"{folder}/disable": "0"}
    preset = load_preset("openshift-sno-vdu")
    finding = CHECK.judge(host(CHECK, files | state), preset)
    assert finding.verdict == "fail"
    assert finding.text == says("18", "C6", "133")
    assert CHECK.judge(host(CHECK, files), preset).verdict == "ok"


def test_on_openshift_the_profile_has_it_and_the_files_are_for_a_trial(says: Says) -> None:
    declared = intent(
        platform="openshift", pool={"role": "worker"}, hints={"high_power": True, "realtime": False}
    )
    finding = CHECK.judge(host(CHECK, boot(SKYLAKE[:3])), declared)
    assert [step.kind for step in finding.steps] == ["advice"] * 3
    assert "workloadHints.highPowerConsumption: true" in finding.steps[0].text
    assert finding.steps[1].text == says(
        "2",
        "3",
        "for cpu in 2 3 4 5 6 7",
        "echo 1 > /sys/devices/system/cpu/cpu$cpu/cpuidle/state2/disable",
    )
    assert "processor.max_cstate=1 intel_idle.max_cstate=0" in finding.steps[2].text


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
