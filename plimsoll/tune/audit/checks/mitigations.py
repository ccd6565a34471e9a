"""20: mitigations and microcode, without which two results cannot be compared."""

from __future__ import annotations

import re

from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import (
    Judgement,
    Reading,
    advice,
    fail,
    not_applicable,
    ok,
    worst_of,
)
from plimsoll.tune.host.host_view import HostView
from plimsoll.tune.host.kernel_command_line import PATH, read_command_line
from plimsoll.tune.host.virtual_machine import CPUINFO

_VULNERABILITIES = "/sys/devices/system/cpu/vulnerabilities"
_MICROCODE = re.compile(r"^microcode\s*:\s*(\S+)", re.MULTILINE)


def _judge(view: HostView) -> Judgement:
    return worst_of((_mitigations(view), _microcode(view)))


def _mitigations(view: HostView) -> Judgement:
    names = view.find_names(_VULNERABILITIES)
    if not names:
        return not_applicable("the kernel tells of no vulnerabilities")
    found = {name: view.need(f"{_VULNERABILITIES}/{name}") for name in names}
    vulnerable = [name for name, text in found.items() if text.startswith("Vulnerable")]
    mitigated = sum(text.startswith("Mitigation") for text in found.values())
    line = read_command_line(view)
    return ok(
        f"{mitigated} mitigations are on, and the CPUs stay vulnerable to "
        f"{', '.join(vulnerable) or 'nothing known'}",
        Reading(PATH, line.told("mitigations")),
        *(Reading(f"{_VULNERABILITIES}/{name}", text) for name, text in found.items()),
    )


def _microcode(view: HostView) -> Judgement:
    versions = sorted(set(_MICROCODE.findall(view.need(CPUINFO))))
    read = Reading(CPUINFO, f"microcode {', '.join(versions) or 'not told'}")
    if not versions:
        return not_applicable("the processor tells no microcode version", read)
    if len(versions) > 1:
        return fail(
            f"CPUs run different microcode: {', '.join(versions)}",
            read,
            wanted="the same microcode on all CPUs",
            steps=[advice("update the firmware or the microcode package, and boot anew")],
        )
    return ok(f"microcode {versions[0]}", read)


CHECK = Check(
    number=20,
    name="mitigations",
    group="power",
    title="Mitigations and microcode are recorded, and the same everywhere",
    reads=(PATH, CPUINFO, f"{_VULNERABILITIES}/*"),
    why=(
        "Mitigations lengthen system calls, interrupts and context switches, and microcode "
        "decides which of them are needed. They are no fault of a host, but two hosts that "
        "differ in them are not comparable; and CPUs of one host that differ are a fault."
    ),
    fix="Record them with every result; keep microcode the same on all sockets.",
    sources=(
        "Linux, Documentation/admin-guide/hw-vuln",
        "Linux, Documentation/ABI/testing/sysfs-devices-system-cpu: vulnerabilities",
    ),
    host_rule=_judge,
)
