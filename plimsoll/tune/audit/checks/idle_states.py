"""13: how deep isolated CPUs may sleep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.expected_argument import (
    NONE_PRESENT,
    ONLINE,
    READS,
    add_at_boot,
    expected_on_host,
    present_isolated,
)
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    Step,
    fail,
    not_applicable,
    ok,
    write_on_each,
)
from plimsoll.tune.audit.setting import performance_profile
from plimsoll.tune.host.cpus.cpu_sets import name_cpus
from plimsoll.tune.host.cpus.processor import IDLE_STATE_READS, IdleState, read_idle_states
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent

_DRIVER = "/sys/devices/system/cpu/cpuidle/current_driver"
_STATES = "/sys/devices/system/cpu/cpu*/cpuidle/state*"
_ARGUMENTS = frozenset({"processor.max_cstate", "intel_idle.max_cstate", "idle"})
# Those that allow no state deeper than C1, wherever they are in the intent; without
# intel_idle (its max_cstate 0) the firmware's states are used, which are bound by processor's.
_SHALLOW = frozenset(
    {
        ("idle", "poll"),
        ("idle", "halt"),
        ("processor.max_cstate", "0"),
        ("processor.max_cstate", "1"),
        ("intel_idle.max_cstate", "1"),
    }
)
_EXPECTED = "no state deeper than C1 on isolated CPUs"


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    if not _shallow_is_requested(view, intent):
        return not_applicable("the intent allows deep idle states (hints.high_power)")
    cpus = present_isolated(view, intent)
    if not cpus:
        return not_applicable(NONE_PRESENT)
    states = {cpu: read_idle_states(view, cpu) for cpu in cpus}
    driver = Reading(_DRIVER, view.find(_DRIVER) or "absent")
    if not any(states.values()):
        return ok("the kernel manages no idle states", driver, expected=_EXPECTED)
    deep = {cpu: found for cpu, each in states.items() if (found := _enabled_deep(each))}
    message = Reading(_STATES, _described(states))
    if not deep:
        return ok("no state deeper than C1 is enabled", driver, message, expected=_EXPECTED)
    names = sorted({state.name for found in deep.values() for state in found})
    latency_us = max(state.latency_us for found in deep.values() for state in found)
    steps = list(_disable(deep))
    if words := [e.text for e in expected_on_host(view, intent) if e.name in _ARGUMENTS]:
        steps.append(add_at_boot(intent, *words))
    return fail(
        f"{name_cpus(deep, 'isolated')} may enter {', '.join(names)}, with up to {latency_us} us "
        "to wake",
        driver,
        message,
        expected=_EXPECTED,
        steps=steps,
    )


def _shallow_is_requested(view: HostView, intent: Intent) -> bool:
    """By the hint, by the firmware's setting, or by kernel arguments of the intent's own."""
    if intent.hints.high_power or intent.bios.c_states is False:
        return True
    return any(
        (each.name, value) in _SHALLOW
        for each in expected_on_host(view, intent)
        for value in each.values
    )


def _disable(deep: Mapping[int, Sequence[IdleState]]) -> Iterator[Step]:
    """A line for each state. No bound by latency does: C1E may take no longer than C1."""
    by_index: dict[int, list[int]] = {}
    for cpu, states in deep.items():
        for state in states:
            by_index.setdefault(state.index, []).append(cpu)
    openshift = performance_profile("workloadHints.highPowerConsumption: true")
    for index, cpus in sorted(by_index.items()):
        path = f"/sys/devices/system/cpu/cpu$cpu/cpuidle/state{index}/disable"
        yield write_on_each(cpus, path, "1", openshift=openshift)


def _enabled_deep(states: tuple[IdleState, ...]) -> list[IdleState]:
    return [state for state in states if state.deep and not state.disabled]


def _described(states: dict[int, tuple[IdleState, ...]]) -> str:
    """Each state once, by name, with what it takes to leave it."""
    seen = {
        f"{state.name} {state.latency_us} us{' (disabled)' if state.disabled else ''}": None
        for each in states.values()
        for state in each
    }
    return ", ".join(seen)


CHECK = Check(
    number=13,
    name="idle-states",
    group="power",
    title="Isolated CPUs have no deep idle states",
    reads=(*READS, ONLINE, _DRIVER, *IDLE_STATE_READS),
    why=(
        "A CPU in C6 takes some hundred microseconds to wake, with its caches cold, and an idle "
        "sibling or package state slows the uncore that polling cores share. States may be "
        "enabled and still kept from use by a request (TuneD's force_latency): whether any was "
        "entered, the counters of a run show."
    ),
    fix=(
        "Boot with processor.max_cstate=1 intel_idle.max_cstate=0 (the hint highPowerConsumption "
        "renders it), turn C-states off in the firmware, or disable the states by cpuidle."
    ),
    sources=(
        "Linux, Documentation/admin-guide/pm/cpuidle.rst, intel_idle.rst",
        "cluster-node-tuning-operator, hint highPowerConsumption",
        "Article: Build deterministic OpenShift dataplane performance with TRex, BIOS table",
    ),
    rule=_judge,
)
