"""46: whether the kubelet has the settings that the intent means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plimsoll.errors import InputError
from plimsoll.host.cpus import format_cpu_list, parse_cpu_list
from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    Step,
    advice,
    fail,
    not_applicable,
    ok,
    tell,
    unknown,
    worst_of,
)
from plimsoll.tune.expected.kubelet import MEMORY_FIELDS, expected_kubelet
from plimsoll.tune.host.boot.kubelet import (
    CPU_MANAGER_STATE,
    FIELDS,
    KIND,
    KUBELET_FILES,
    read_cpu_manager,
    read_kubelet_configuration,
)
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.kubernetes.kube_object import parse_quantity

_CPU_LISTS = ("reservedSystemCPUs",)
_AMOUNTS = ("memory", "cpu", "ephemeral-storage", "memory.available")


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    expected = _expected(intent)
    if not expected:
        return not_applicable("the intent is of a platform without a kubelet")
    return worst_of(
        (tell(lambda: _configured(view, expected)), tell(lambda: _kept(view, expected)))
    )


def _expected(intent: Intent) -> dict[str, Any]:
    """The intent's own cpu_manager, over what the Node Tuning Operator makes of the rest.

    What memory is kept from pods is a node's own to say (the profile's annotation
    kubeletconfig.experimental), and judged where the intent says it: `kubelet`.
    """
    rendered, given = expected_kubelet(intent), intent.kubelet or {}
    expected = {
        name: given.get(name, value)
        for name, value in rendered.items()
        if name in FIELDS and (name in given or name not in MEMORY_FIELDS)
    }
    if "reservedMemory" in rendered and not given.keys().isdisjoint(MEMORY_FIELDS):
        expected["reservedMemory"] = rendered["reservedMemory"]
    manager = intent.cluster.cpu_manager
    if manager is not None:
        expected["cpuManagerPolicy"] = manager.policy
    return expected


def _configured(view: HostView, expected: dict[str, Any]) -> CheckJudgement:
    path, found = read_kubelet_configuration(view)
    wish = ", ".join(f"{name}: {_shown(value)}" for name, value in expected.items())
    if found is None:
        return unknown(f"neither {' nor '.join(KUBELET_FILES)} is a {KIND}", expected=wish)
    wrong = list(_differences(expected, found))
    names = dict.fromkeys((*expected, *(each for each in MEMORY_FIELDS if each in found)))
    read = Reading(path, ", ".join(f"{n}: {_shown(found.get(n))}" for n in names))
    if not wrong:
        return ok("the kubelet's configuration is the intent's", read, expected=wish)
    message = "; ".join(wrong)
    return fail(f"of the kubelet's configuration {message}", read, expected=wish, steps=[_apply()])


def _differences(expected: dict[str, Any], found: dict[str, Any]) -> Iterator[str]:
    """Fields that are not as expected; those that the intent does not speak of are ignored."""
    for name, value in expected.items():
        have = found.get(name)
        if isinstance(value, dict) and isinstance(have, dict):
            yield from (f"{name}.{each}" for each in _differences(value, have))
        elif _canonical(name, have) != _canonical(name, value):
            yield f"{name} is {_shown(have)}, not {_shown(value)}"


def _canonical(name: str, value: object) -> object:
    """The same CPUs, and the same amount, may be written in many ways."""
    if name == "reservedMemory" and isinstance(value, list):
        return _canonical_memory(value)
    if not isinstance(value, str | int) or isinstance(value, bool):
        return value
    try:
        if name in _CPU_LISTS:
            return format_cpu_list(parse_cpu_list(str(value)))
        return parse_quantity(value) if name in _AMOUNTS else value
    except (InputError, ValueError):
        return value


def _canonical_memory(value: list[object]) -> object:
    """What is reserved on each NUMA node, whatever the order."""
    return {
        (str(each.get("numaNode")), str(resource)): _canonical("memory", amount)
        for each in value
        if isinstance(each, dict) and isinstance(each.get("limits"), dict)
        for resource, amount in each["limits"].items()
    }


def _kept(view: HostView, expected: dict[str, Any]) -> CheckJudgement:
    """The policy under which the kubelet runs, as its state file has it."""
    manager = read_cpu_manager(view)
    policy = expected.get("cpuManagerPolicy")
    if manager is None or policy is None:
        return not_applicable("the kubelet keeps no state of a CPU manager here")
    read = Reading(CPU_MANAGER_STATE, manager.policy)
    wish = f"CPU manager: {policy}"
    if manager.policy == policy:
        return ok(f"the CPU manager's policy is {policy}", read, expected=wish)
    message = f"the kubelet runs with the CPU manager's policy {manager.policy}, not {policy}"
    return fail(message, read, expected=wish, steps=[_apply()])


def _apply() -> Step:
    return advice(
        "let a PerformanceProfile or KubeletConfig select the node's pool, and see in the pool's "
        "status whether it was rolled out"
    )


def _shown(value: object) -> str:
    return "not set" if value is None else str(value)


CHECK = Check(
    number=46,
    name="kubelet-config",
    group="pod",
    title="The kubelet has the intent's settings",
    reads=(*KUBELET_FILES, CPU_MANAGER_STATE),
    why=(
        "Objects in the cluster are what was requested. A pool that is paused, a selector that "
        "matches nothing or a kubelet that did not restart leave the node as it was; then pods "
        "are placed by another policy than the manifests say."
    ),
    fix="See why the pool's rendered configuration did not reach the node; restart the kubelet.",
    sources=(
        "Kubernetes, Kubelet Configuration (v1beta1)",
        "cluster-node-tuning-operator, components/kubeletconfig/kubeletconfig.go",
    ),
    rule=_judge,
)
