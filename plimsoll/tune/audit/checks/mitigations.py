"""20: mitigations and microcode, without which two results cannot be compared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal

from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    advice,
    fail,
    not_applicable,
    ok,
    worst_of,
)
from plimsoll.tune.host.boot.kernel_command_line import PATH, read_command_line
from plimsoll.tune.host.boot.operating_system import CPUINFO
from plimsoll.tune.host.view.host_view import HostView

_VULNERABILITIES = "/sys/devices/system/cpu/vulnerabilities"
_State = Literal["unaffected", "mitigated", "vulnerable", "unknown"]
_VULNERABLE = re.compile(r"\bvulnerable\b", re.IGNORECASE)
# What follows a mitigation; older kernels have commas, and retpolines' modules a dash.
_CLAUSE = re.compile(r"; |, | - ")
_MICROCODE = re.compile(r"^microcode\s*:\s*(\S+)", re.MULTILINE)


def _judge(view: HostView) -> CheckJudgement:
    return worst_of((_mitigations(view), _microcode(view)))


def _mitigations(view: HostView) -> CheckJudgement:
    names = view.find_names(_VULNERABILITIES)
    if not names:
        return not_applicable("the kernel reports no vulnerabilities")
    found = {name: view.need(f"{_VULNERABILITIES}/{name}") for name in names}
    line = read_command_line(view)
    return ok(
        "; ".join(_described(found)),
        Reading(PATH, line.shown("mitigations")),
        *(Reading(f"{_VULNERABILITIES}/{name}", text) for name, text in found.items()),
    )


def _described(found: Mapping[str, str]) -> Iterator[str]:
    by_state: dict[_State, list[str]] = {}
    for name, text in found.items():
        by_state.setdefault(_state(text), []).append(name)
    vulnerable, on = by_state.get("vulnerable", []), by_state.get("mitigated", [])
    yield f"{len(on)} {'mitigation is' if len(on) == 1 else 'mitigations are'} on"
    if partly := [f"{name} ({left})" for name in on if (left := _left_open(found[name]))]:
        yield f"of these leave something open {', '.join(partly)}"
    yield f"the CPUs stay vulnerable to {', '.join(vulnerable) or 'nothing known'}"
    if unknown := by_state.get("unknown"):
        yield f"the kernel does not know of {', '.join(unknown)}"


def _state(text: str) -> _State:
    """Of one vulnerability, by the words of arch/x86/kernel/cpu/bugs.c and arm64's.

    They are "Not affected", "Mitigation: ...", "Vulnerable" alone, with ": ..." or ", ...",
    "Processor vulnerable" of a kernel without KVM, and "Unknown: ..."; that of itlb_multihit
    has "KVM: " before it.
    """
    words = text.removeprefix("KVM: ")
    if words.startswith("Not affected"):
        return "unaffected"
    if words.startswith("Mitigation"):
        return "mitigated"
    return "vulnerable" if _VULNERABLE.search(words) else "unknown"


def _left_open(text: str) -> str:
    """What a mitigation itself leaves vulnerable: "SMT vulnerable", "BHI: Vulnerable"."""
    clauses = _CLAUSE.split(text.removeprefix("KVM: ").removeprefix("Mitigation: "))
    return ", ".join(clause for clause in clauses if _VULNERABLE.search(clause))


def _microcode(view: HostView) -> CheckJudgement:
    versions = sorted(set(_MICROCODE.findall(view.need(CPUINFO))))
    read = Reading(CPUINFO, f"microcode {', '.join(versions) or 'not message'}")
    if not versions:
        return not_applicable("the processor reports no microcode version", read)
    if len(versions) > 1:
        return fail(
            f"CPUs run different microcode: {', '.join(versions)}",
            read,
            expected="the same microcode on all CPUs",
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
        "decides which of them are needed. They are not a fault of a host, but two hosts that "
        "differ in them are not comparable; and CPUs of one host that differ are a fault."
    ),
    fix="Record them with every result; keep microcode the same on all sockets.",
    sources=(
        "Linux, Documentation/admin-guide/hw-vuln; arch/x86/kernel/cpu/bugs.c",
        "Linux, Documentation/ABI/testing/sysfs-devices-system-cpu: vulnerabilities",
    ),
    host_rule=_judge,
)
