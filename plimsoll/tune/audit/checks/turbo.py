"""15: frequencies above the nominal one."""

from __future__ import annotations

from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    Step,
    fail,
    not_applicable,
    ok,
    write,
)
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent

# The file, and its text while turbo is on: intel_pstate's, and every other driver's.
_SWITCHES = {
    "/sys/devices/system/cpu/intel_pstate/no_turbo": ("0", "1"),
    "/sys/devices/system/cpu/cpufreq/boost": ("1", "0"),
}


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    expected = intent.bios.turbo
    if expected is None:
        return not_applicable("the intent does not say (bios.turbo)")
    for path, texts in _SWITCHES.items():
        found = view.find(path)
        if found is None:
            continue
        text = texts[0 if expected else 1]
        read, requested = Reading(path, found), f"turbo {'on' if expected else 'off'}"
        if found == text:
            return ok(f"{requested}", read, expected=requested)
        message = "off" if expected else "on: the frequency depends on heat and on the other cores"
        return fail(
            f"turbo is {message}", read, expected=requested, steps=[_switch(path, text, requested)]
        )
    return not_applicable("the kernel has no switch for it here: firmware or hypervisor decide")


def _switch(path: str, text: str, requested: str) -> Step:
    return write(
        path, text, openshift=f"set {requested} in the firmware: no object of OpenShift has it"
    )


CHECK = Check(
    number=15,
    name="turbo",
    group="power",
    title="Turbo is as meant",
    reads=tuple(_SWITCHES),
    why=(
        "Turbo gives a core more than its nominal frequency while few cores work and the "
        "package is cool. Results then depend on what else runs and for how long, and a load "
        "that held for a minute may not hold for an hour."
    ),
    fix="Set it in the firmware; until the next boot by the file named.",
    sources=(
        "Linux, Documentation/admin-guide/pm/intel_pstate.rst: no_turbo",
        "Linux, Documentation/admin-guide/pm/cpufreq.rst: boost",
        "Article: Build deterministic OpenShift dataplane performance with TRex, BIOS table",
    ),
    rule=_judge,
)
