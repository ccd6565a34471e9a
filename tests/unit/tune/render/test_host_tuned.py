"""The TuneD profile of a host: what its parents would do against the intent."""

import re
from typing import Any

import pytest

from tests.unit.tune.intent_documents import HOST, intent_with
from tests.unit.tune.render.rendering import rendered, tuned_sections
from tests.worded.says import Says, passage

NO_TURBO = "/sys/devices/system/cpu/intel_pstate/no_turbo"
BOOST = "/sys/devices/system/cpu/cpufreq/boost"


def profile(**sections: Any) -> dict[str, dict[str, str]]:
    """By section, of an intent that has device interrupts kept off its isolated CPUs."""
    intent = intent_with(HOST, **sections)
    return tuned_sections(rendered(intent)["host/etc/tuned/plimsoll-box/tuned.conf"].text)


# latency-performance, two profiles up, has boost=1 since TuneD 2.27, which is turbo on.
@pytest.mark.parametrize(
    ("turbo", "boost", "no_turbo"), [("off", "0", "1"), ("on", "1", "0"), (None, None, None)]
)
@pytest.mark.parametrize("hints", [{}, {"high_power": True}])
def test_turbo_is_as_the_intent_has_it(
    hints: dict[str, bool], turbo: str | None, boost: str | None, no_turbo: str | None
) -> None:
    found = profile(hints=hints, **({"bios": {"turbo": turbo}} if turbo else {}))
    assert found.get("cpu", {}).get("boost") == boost
    # By the kernel's own files too, which older TuneD, and older kernels, need.
    assert found["sysfs"].get(BOOST) == boost
    assert found["sysfs"].get(NO_TURBO) == no_turbo


def test_turbo_is_switched_where_frequencies_are_not() -> None:
    """Without TuneD's plugin, which would also hold the CPUs awake."""
    found = profile(hints={"high_power": False}, bios={"turbo": "off"})
    assert found["cpu"] == {"enabled": "false"}
    assert (found["sysfs"][NO_TURBO], found["sysfs"][BOOST]) == ("1", "0")


def test_the_presets_turbo_is_off() -> None:
    text = rendered("bare-metal")["host/etc/tuned/plimsoll-bare-metal/tuned.conf"].text
    assert tuned_sections(text)["cpu"]["boost"] == "0"


def test_a_guest_has_no_turbo_of_its_own() -> None:
    intent = intent_with(HOST | {"platform": "vm"}, bios={"turbo": "off"})
    assert "boost" not in rendered(intent)["host/etc/tuned/plimsoll-box/tuned.conf"].text


def is_spared(name: str, **sections: Any) -> bool:
    """As TuneD reads the option: split at each ; and searched in the thread's name."""
    parts = re.split(r"(?<!\\);", profile(**sections)["scheduler"]["ps_blacklist"])
    return re.search("|".join(f"({part})" for part in parts), name) is not None


TREX = {
    "ports": [
        {"pci": "0000:87:00.0", "ip": "1.1.1.1", "default_gw": "2.2.2.2"},
        {"pci": "0000:87:00.1", "ip": "2.2.2.2", "default_gw": "1.1.1.1"},
    ],
    "dual_if": [{"socket": 0, "threads": [1]}],
    "latency_thread": 2,
    "master_thread": 3,
}


@pytest.mark.parametrize(
    ("name", "sections"),
    [
        ("dpdk-testpmd", {}),
        # Workers of DPDK up to 20.08, from 20.11, and from 23.11; its own threads since then.
        ("lcore-slave-3", {}),
        ("lcore-worker-3", {}),
        ("dpdk-worker3", {}),
        ("dpdk-intr", {}),
        ("plimsoll-engine", {"expected_processes": ["plimsoll-engine"]}),
        # The kernel keeps 15 characters of it.
        ("a-long-programs", {"expected_processes": ["a-long-programs-name"]}),
        ("c++", {"expected_processes": ["c++"]}),
        ("_t-rex-64-o", {"generator": {"trex": TREX}}),
    ],
)
def test_tuned_leaves_what_belongs_on_isolated_cpus(name: str, sections: dict[str, Any]) -> None:
    assert is_spared(name, **sections)


@pytest.mark.parametrize("name", ["nginx", "sshd", "l3fwd", "_t-rex-64-o", "systemd"])
def test_tuned_moves_all_else(name: str) -> None:
    assert not is_spared(name, expected_processes=["plimsoll-engine"])


@pytest.mark.parametrize("name", ["${f:exec:id}", "a;.*", "a|b", "x#y", "a\\;b", "(", "[a"])
def test_a_name_is_no_expression_and_no_call(name: str) -> None:
    option = profile(expected_processes=[name])["scheduler"]["ps_blacklist"]
    own = option.rpartition(";")[2]
    assert re.fullmatch(r"\^[A-Za-z0-9_.-]+\$", own)
    assert re.search(own, name)
    assert not is_spared("nginx", expected_processes=[name])


def test_the_reader_is_warned_of_what_a_restart_of_tuned_moves(says: Says) -> None:
    readme = rendered("bare-metal")["README.md"].text
    assert passage(readme, "expected_processes") == says("expected_processes")


def test_nothing_is_moved_where_interrupts_are_balanced() -> None:
    found = profile(irq={"globally_disable_balancing": False})
    assert "scheduler" not in found
