"""12: who chooses the frequency of isolated CPUs."""

from __future__ import annotations

from plimsoll.host.cpus import format_cpu_list
from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.expected_argument import NONE_PRESENT, ONLINE, present_isolated
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    fail,
    not_applicable,
    ok,
    warn,
    write_on_each,
)
from plimsoll.tune.audit.setting import node_tuned
from plimsoll.tune.host.cpus.cpu_sets import name_cpus
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent

_CPU = "/sys/devices/system/cpu"
_EXPECTED = "performance"


def _path(cpu: int) -> str:
    return f"{_CPU}/cpu{cpu}/cpufreq/scaling_governor"


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    if intent.hints.per_pod_power:
        return not_applicable("pods choose the governors of their CPUs (hints.per_pod_power)")
    if not _requested(intent):
        return not_applicable("the intent does not say (hints.high_power, bios.power_profile)")
    cpus = present_isolated(view, intent)
    if not cpus:
        return not_applicable(NONE_PRESENT)
    found = {cpu: text for cpu in cpus if (text := view.find(_path(cpu)))}
    if not found:
        return not_applicable("the kernel sets no frequencies here: firmware or hypervisor do")
    others = {cpu: governor for cpu, governor in found.items() if governor != _EXPECTED}
    read = tuple(
        Reading(f"{_CPU}/cpu{format_cpu_list(cpus)}/cpufreq/scaling_governor", governor)
        for governor, cpus in _by_value(found).items()
    )
    if not others:
        return ok("isolated CPUs run at the highest frequency", *read, expected=_EXPECTED)
    named = ", ".join(sorted(set(others.values())))
    return fail(
        f"the governor of {name_cpus(others, 'isolated')} is {named}",
        *read,
        expected=_EXPECTED,
        steps=[
            write_on_each(
                others,
                f"{_CPU}/cpu$cpu/cpufreq/scaling_governor",
                _EXPECTED,
                openshift=node_tuned(f"the governor {_EXPECTED}"),
            )
        ],
    )


def _without_intent(view: HostView) -> CheckJudgement:
    """A governor that saves power slows whatever polls, on any CPU."""
    folders = (name for name in view.find_names(_CPU) if name[3:].isdecimal())
    cpus = [int(name[3:]) for name in folders if name.startswith("cpu")]
    found = {cpu: text for cpu in sorted(cpus) if (text := view.find(_path(cpu)))}
    if not found:
        return not_applicable("the kernel sets no frequencies here: firmware or hypervisor do")
    groups = _by_value(found)
    read = tuple(
        Reading(f"{_CPU}/cpu{format_cpu_list(cpus)}/cpufreq/scaling_governor", governor)
        for governor, cpus in groups.items()
    )
    if set(groups) == {_EXPECTED}:
        return ok("all CPUs run at the highest frequency", *read, expected=_EXPECTED)
    named = ", ".join(sorted(set(groups) - {_EXPECTED}))
    others = [cpu for cpu, governor in found.items() if governor != _EXPECTED]
    return warn(
        f"the governor of {name_cpus(others)} is {named}: cores that poll change their frequency",
        *read,
        expected=f"{_EXPECTED} on CPUs of a dataplane",
    )


def _requested(intent: Intent) -> bool:
    """TuneD's latency-performance, from which OpenShift's profiles descend, sets it always."""
    return (
        intent.platform == "openshift"
        or intent.hints.high_power is True
        or intent.bios.power_profile == "max-performance"
    )


def _by_value(found: dict[int, str]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for cpu, value in found.items():
        groups.setdefault(value, []).append(cpu)
    return groups


CHECK = Check(
    number=12,
    name="governor",
    group="power",
    title="Isolated CPUs keep the highest frequency",
    reads=(
        ONLINE,
        f"{_CPU}/cpu[0-9]*/cpufreq/scaling_governor",
    ),
    why=(
        "A governor that saves power looks at a polling core's load, changes the frequency when "
        "traffic does, and each change stops the core for a moment."
    ),
    fix="Set the governor performance; TuneD's profiles for latency do.",
    sources=(
        "Linux, Documentation/admin-guide/pm/cpufreq.rst",
        "tuned, profile latency-performance: governor=performance",
    ),
    rule=_judge,
    without_intent=_without_intent,
)
