"""Small facts about a host: who made it, whether it is a guest, its numbers, its trees."""

import pytest

from plimsoll.tune.host.boot.operating_system import CPUINFO, is_virtual_machine
from plimsoll.tune.host.capture.capture import CapturedHost
from plimsoll.tune.host.cpus.processor import IdleState, processor_vendor, read_idle_states
from plimsoll.tune.host.view.rooted_files import walk
from plimsoll.tune.host.view.unread import CannotRead, whole_number


@pytest.mark.parametrize(
    ("cpuinfo", "vendor"),
    [
        ("vendor_id\t: GenuineIntel\n", "intel"),
        ("processor\t: 0\nvendor_id\t: AuthenticAMD\n", "amd"),
        ("vendor_id\t: HygonGenuine\n", "amd"),
        ("processor\t: 0\nCPU implementer\t: 0x41\n", "arm"),
        ("nothing", "intel"),
    ],
)
def test_who_made_the_processor(cpuinfo: str, vendor: str) -> None:
    assert processor_vendor(CapturedHost(files={CPUINFO: cpuinfo})) == vendor


def test_a_guest_has_the_flag_of_a_hypervisor() -> None:
    for flags, expected in (("fpu hypervisor lm", True), ("fpu lm hypervisorless", False)):
        view = CapturedHost(files={CPUINFO: f"flags\t\t: {flags}\n"})
        assert is_virtual_machine(view) is expected
    with pytest.raises(CannotRead):
        is_virtual_machine(CapturedHost(files={}))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        (" -1\n", -1),
        ("18446744073709551615", 2**64 - 1),
        ("", None),
        (None, None),
        ("1.5", None),
        ("0x10", None),
        ("\u00b2", None),
        ("9" * 5000, None),
    ],
)
def test_a_whole_number(text: str | None, number: int | None) -> None:
    assert whole_number(text) == number


def test_files_of_one_name_are_found_at_any_depth() -> None:
    view = CapturedHost(files={"/c/cpu.max": "", "/c/b/a/cpu.max": "", "/c/b/other": ""})
    assert list(walk(view, "/c", "cpu.max")) == ["/c/cpu.max", "/c/b/a/cpu.max"]
    assert list(walk(view, "/nowhere", "cpu.max")) == []


@pytest.mark.parametrize(
    ("name", "latency_us", "deep"),
    [
        ("POLL", 0, False),
        ("C1", 2, False),
        ("C1_ACPI", 1, False),
        ("haltpoll", 1, False),
        ("WFI", 1, False),
        ("C1E", 10, True),
        ("C6", 133, True),
        ("C2", 18, True),
        ("cpu-sleep-0", 300, True),
    ],
)
def test_what_is_deeper_than_c1(name: str, latency_us: int, deep: bool) -> None:
    assert IdleState(1, name, latency_us, disabled=False).deep is deep


def test_idle_states_come_shallowest_first() -> None:
    folder = "/sys/devices/system/cpu/cpu3/cpuidle"
    files = {}
    for index in (10, 2):
        files[f"{folder}/state{index}/name"] = f"C{index}"
        files[f"{folder}/state{index}/latency"] = "7"
        files[f"{folder}/state{index}/disable"] = "0"
    files[f"{folder}/driver/name"] = "x"
    states = read_idle_states(CapturedHost(files=files), 3)
    assert [state.index for state in states] == [2, 10]
