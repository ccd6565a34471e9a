"""The firmware settings, which no manifest can make: a list for people.

Settings and reasons as in the table of "Build deterministic OpenShift dataplane performance
with TRex"; how each shows on a running Linux is in the kernel's documentation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from plimsoll.tune.intent.bios import Bios
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.render.files.rendered_file import RenderedFile


@dataclass(frozen=True, slots=True)
class _Setting:
    """`shows` is where Linux tells of it."""

    field: str
    title: str
    why: str
    shows: str


_SETTINGS = (
    _Setting(
        "smt",
        "SMT (Hyper-Threading, simultaneous multithreading)",
        "threads of a core share its execution units and its nearest caches",
        "/sys/devices/system/cpu/smt/active",
    ),
    _Setting(
        "turbo",
        "Turbo Boost (Core Performance Boost)",
        "the frequency would follow temperature and load",
        "/sys/devices/system/cpu/intel_pstate/no_turbo, or /sys/devices/system/cpu/cpufreq/boost",
    ),
    _Setting(
        "c_states",
        "C-states (idle power states, C1E and deeper)",
        "waking from one takes microseconds",
        "/sys/devices/system/cpu/cpu*/cpuidle/state*/usage",
    ),
    _Setting(
        "aspm",
        "PCIe ASPM (Active State Power Management)",
        "a link that sleeps adds to the latency of DMA",
        "/sys/module/pcie_aspm/parameters/policy, and LnkCtl of lspci -vv",
    ),
)
_PROFILES = {
    "max-performance": "maximum performance",
    "balanced": "balanced",
    "power-saving": "power saving",
}


def render_bios_checklist(intent: Intent) -> Iterator[RenderedFile]:
    """Only where the intent asks something of the firmware."""
    rows = list(_rows(intent.bios))
    if not rows:
        return
    table = "\n".join(["| set | to | because | Linux shows it in |", "|---|---|---|---|", *rows])
    yield RenderedFile(
        "bios-checklist.md",
        f"# Firmware settings of {intent.name}\n\n{table}\n",
        does="What to set in the firmware of each node, by hand, before all else.",
        undo="Set back what was there; note it before.",
        commented=False,
    )


def _rows(bios: Bios) -> Iterator[str]:
    for setting in _SETTINGS:
        expected = getattr(bios, setting.field)
        if expected is not None:
            word = "enabled" if expected else "disabled"
            yield f"| {setting.title} | {word} | {setting.why} | {setting.shows} |"
    if bios.power_profile is not None:
        yield (
            f"| CPU power management (system profile) | {_PROFILES[bios.power_profile]} "
            "| less saving of power is less jitter "
            "| /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor |"
        )
