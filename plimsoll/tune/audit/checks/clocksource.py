"""21: whether the time stamp counter keeps the time."""

from __future__ import annotations

import re

from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    Step,
    advice,
    fail,
    not_applicable,
    ok,
    warn,
    write,
)
from plimsoll.tune.audit.setting import performance_profile
from plimsoll.tune.host.boot.operating_system import CPUINFO, is_virtual_machine
from plimsoll.tune.host.view.host_view import HostView

_FOLDER = "/sys/devices/system/clocksource/clocksource0"
_CURRENT = f"{_FOLDER}/current_clocksource"
_AVAILABLE = f"{_FOLDER}/available_clocksource"
_FLAGS = re.compile(r"^flags\s*:(.*)$", re.MULTILINE)
_NEEDED = ("constant_tsc", "nonstop_tsc")
# Clocks of hypervisors that read the TSC and scale it.
_PARAVIRTUAL = ("kvm-clock", "hyperv_clocksource_tsc_page")
_EXPECTED = "clocksource tsc, of a constant TSC that never stops"


def _judge(view: HostView) -> CheckJudgement:
    flags = _FLAGS.search(view.need(CPUINFO))
    if flags is None:
        return not_applicable("the TSC is x86's: this processor has another counter")
    current, available = view.need(_CURRENT), view.need(_AVAILABLE)
    missing = [flag for flag in _NEEDED if flag not in flags[1].split()]
    read = (
        Reading(_CURRENT, current),
        Reading(_AVAILABLE, available),
        Reading(CPUINFO, f"without {', '.join(missing)}" if missing else ", ".join(_NEEDED)),
    )
    if current != "tsc":
        return _another(view, current, available, read)
    if missing:
        return warn(
            f"the CPUs do not say {' and '.join(missing)}: the TSC may change its rate or stop",
            *read,
            expected=_EXPECTED,
            steps=[advice(_flags_remedy(view))],
        )
    return ok("the TSC keeps the time, and is constant and nonstop", *read, expected=_EXPECTED)


def _another(
    view: HostView, current: str, available: str, read: tuple[Reading, ...]
) -> CheckJudgement:
    usable = "tsc" in available.split()
    steps = [_choose()] if usable else [advice("see dmesg for why tsc is left out")]
    if current in _PARAVIRTUAL and is_virtual_machine(view):
        return warn(
            f"the clocksource is {current}: a TSC that the hypervisor scales and may move",
            *read,
            expected=_EXPECTED,
            steps=steps,
        )
    why = "though tsc is available" if usable else "and the kernel has ruled tsc out as unstable"
    return fail(
        f"the clocksource is {current}, {why}: each reading of the time takes up to microseconds",
        *read,
        expected=_EXPECTED,
        steps=steps,
    )


def _choose() -> Step:
    openshift = performance_profile("additionalKernelArgs clocksource=tsc")
    return write(_CURRENT, "tsc", openshift=openshift)


def _flags_remedy(view: HostView) -> str:
    if is_virtual_machine(view):
        return "let the hypervisor show the guest an invariant TSC (for QEMU: -cpu host,+invtsc)"
    return "update the firmware, or use a processor with an invariant TSC"


CHECK = Check(
    number=21,
    name="clocksource",
    group="kernel",
    title="The time stamp counter keeps the time",
    reads=(_CURRENT, _AVAILABLE, CPUINFO),
    why=(
        "Packet programs time their work by rdtsc. A clocksource of the chipset (hpet, acpi_pm) "
        "costs microseconds a reading, and that the kernel fell back to one says that it found "
        "the counters of the CPUs to disagree: then latencies between CPUs are wrong too."
    ),
    fix=(
        "Find in dmesg why the kernel marked the TSC unstable; boot with tsc=reliable where the "
        "watchdog was mistaken; in a guest ask for an invariant TSC."
    ),
    sources=(
        "Linux, Documentation/admin-guide/kernel-parameters.txt: tsc=, clocksource=",
        "Linux, Documentation/virt/kvm/x86/timekeeping.rst",
    ),
    host_rule=_judge,
)
