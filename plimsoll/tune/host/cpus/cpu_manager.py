"""What the kubelet's CPU manager keeps in its state file: whose CPUs are exclusive."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.errors import InputError
from plimsoll.host.cpus import format_cpu_list, parse_cpu_list
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import CannotRead, Unread

CPU_MANAGER_STATE = "/var/lib/kubelet/cpu_manager_state"


@dataclass(frozen=True, slots=True)
class CpuManagerState:
    """`shared` are the CPUs of all containers without CPUs of their own.

    `exclusive` are those of each pod that has some, by its uid.
    """

    policy: str
    shared: frozenset[int]
    exclusive: Mapping[str, frozenset[int]]


def read_cpu_manager(view: HostView) -> CpuManagerState | None:
    """None on a host without a kubelet. Only root may read it. Raises CannotRead."""
    text = view.find(CPU_MANAGER_STATE)
    return None if text is None else _parsed(text)


def _parsed(text: str) -> CpuManagerState:
    try:
        state = json.loads(text)
        return CpuManagerState(
            policy=str(state["policyName"]),
            shared=_cpus(state.get("defaultCpuSet")),
            exclusive={
                str(uid): frozenset().union(*map(_cpus, containers.values()))
                for uid, containers in (state.get("entries") or {}).items()
            },
        )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, InputError):
        message = Unread(CPU_MANAGER_STATE, "unreadable", "is not a state file of the CPU manager")
        raise CannotRead(message) from None


def sets_by_pod(text: str) -> str:
    """The state file without the containers' names; an empty one for any other file."""
    try:
        found = _parsed(text)
    except CannotRead:
        return "{}"
    state = {
        "policyName": found.policy,
        "defaultCpuSet": format_cpu_list(found.shared),
        "entries": {uid: {"": format_cpu_list(cpus)} for uid, cpus in found.exclusive.items()},
    }
    return json.dumps(state, indent=1)


def _cpus(text: str | None) -> frozenset[int]:
    return frozenset(parse_cpu_list(text)) if text else frozenset()
