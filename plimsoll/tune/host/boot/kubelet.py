"""The kubelet's configuration, and what its CPU manager keeps in its state file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plimsoll.errors import InputError
from plimsoll.host.cpus import format_cpu_list, parse_cpu_list
from plimsoll.text.bounded_yaml import load_yaml
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import CannotRead, Unread

# OpenShift's, and kubeadm's, where /etc/kubernetes/kubelet.conf is a kubeconfig instead.
KUBELET_FILES = ("/etc/kubernetes/kubelet.conf", "/var/lib/kubelet/config.yaml")
KIND = "KubeletConfiguration"
# What is read of it. Others hold tokens and headers (staticPodURLHeader), and a file that is no
# such configuration may be a kubeconfig.
FIELDS = (
    "allowedUnsafeSysctls",
    "cpuCFSQuota",
    "cpuManagerPolicy",
    "cpuManagerPolicyOptions",
    "cpuManagerReconcilePeriod",
    "evictionHard",
    "kubeReserved",
    "maxPods",
    "memoryManagerPolicy",
    "podPidsLimit",
    "reservedMemory",
    "reservedSystemCPUs",
    "staticPodPath",
    "systemReserved",
    "topologyManagerPolicy",
    "topologyManagerPolicyOptions",
    "topologyManagerScope",
)


def read_kubelet_configuration(view: HostView) -> tuple[str, dict[str, Any] | None]:
    """(file, its fields); None where no file holds such a configuration. Raises CannotRead."""
    for path in KUBELET_FILES:
        text = view.find(path)
        if text is None:
            continue
        if (found := _parsed(text)) is not None:
            return path, found
    return KUBELET_FILES[0], None


def read_fields(text: str) -> str:
    """The text of such a file with nothing but what is read of it; an empty one of another."""
    found = _parsed(text)
    kept = {name: found[name] for name in ("kind", *FIELDS) if name in found} if found else {}
    return json.dumps(kept, indent=1, default=str)


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        data = load_yaml(text)
    except ValueError:
        return None
    return data if isinstance(data, dict) and data.get("kind") == KIND else None


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
    return None if text is None else _parsed_state(text)


def _parsed_state(text: str) -> CpuManagerState:
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
        found = _parsed_state(text)
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
