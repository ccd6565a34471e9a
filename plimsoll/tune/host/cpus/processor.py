"""Who made a host's processors, and the idle states of its CPUs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from plimsoll.tune.host.boot.operating_system import CPUINFO
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import whole_number

_VENDOR_ID = re.compile(r"^vendor_id\s*:\s*(\S+)", re.MULTILINE)
_IMPLEMENTER = re.compile(r"^CPU implementer\s*:", re.MULTILINE)


def processor_vendor(view: HostView) -> Literal["intel", "amd", "arm"]:
    """By /proc/cpuinfo; "intel" where it names none of the three. Raises CannotRead."""
    text = view.need(CPUINFO)
    if _IMPLEMENTER.search(text):
        return "arm"
    found = _VENDOR_ID.search(text)
    # Hygon's processors are AMD's design, and TuneD treats them alike.
    return "amd" if found and found[1] in ("AuthenticAMD", "HygonGenuine") else "intel"


_CPU = "/sys/devices/system/cpu"
# What read_idle_states reads.
IDLE_STATE_READS = (
    f"{_CPU}/cpu[0-9]*/cpuidle/state[0-9]*/name",
    f"{_CPU}/cpu[0-9]*/cpuidle/state[0-9]*/latency",
    f"{_CPU}/cpu[0-9]*/cpuidle/state[0-9]*/disable",
)
_STATE = re.compile(r"state(\d{1,3})", re.ASCII)
# Polling, the first state of x86, of Arm (LPI-0 by ACPI: drivers/acpi/processor_idle.c), and
# of a guest that polls before it halts.
_SHALLOW = frozenset({"POLL", "C1", "C1_ACPI", "WFI", "LPI-0", "HALTPOLL"})


def is_deep(name: str) -> bool:
    """Whether a state of that name is deeper than C1: caches, clocks or voltage are lost.

    The name alone decides, for counters know no more. C1E is deep whatever its latency, which
    is 10 us on Skylake servers and by intel_idle's table 2 us on Sapphire Rapids: it drops the
    core's frequency and voltage to the lowest.
    """
    return name.upper() not in _SHALLOW


@dataclass(frozen=True, slots=True)
class IdleState:
    """State `index` of a CPU; `latency_us` is what the kernel counts on to leave it."""

    index: int
    name: str
    latency_us: int
    disabled: bool

    @property
    def deep(self) -> bool:
        """Deeper than C1."""
        return is_deep(self.name)


def read_idle_states(view: HostView, cpu: int) -> tuple[IdleState, ...]:
    """Its states, the shallowest first; none where the kernel manages none. Raises CannotRead."""
    folder = f"{_CPU}/cpu{cpu}/cpuidle"
    numbers = sorted(int(m[1]) for name in view.find_names(folder) if (m := _STATE.fullmatch(name)))
    return tuple(_read_state(view, f"{folder}/state{number}", number) for number in numbers)


def _read_state(view: HostView, path: str, index: int) -> IdleState:
    return IdleState(
        index=index,
        name=view.need(f"{path}/name"),
        latency_us=whole_number(view.need(f"{path}/latency")) or 0,
        # Kernels before 3.10 have no such file (ABI/testing/sysfs-devices-system-cpu).
        disabled=view.find(f"{path}/disable") not in (None, "0"),
    )
