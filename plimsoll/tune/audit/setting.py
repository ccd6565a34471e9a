"""One setting of the kernel under /proc/sys, compared with what the intent implies.

Which object has a setting of a node of OpenShift, and in which rendered file it is. What is set on
the node itself is put back there: by TuneD when it restarts, by the Machine Config Operator, by
the SR-IOV operator's daemon.
"""

from __future__ import annotations

from collections.abc import Callable

from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    Step,
    command,
    fail,
    not_applicable,
    ok,
)
from plimsoll.tune.expected.tuned import expected_sysctls, intent_sysctls
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import whole_number
from plimsoll.tune.intent.intent import Intent

PROFILE_FILE = "1-node/20-performance-profile.yaml"
PATCH_FILE = "1-node/21-tuned-patch.yaml"
POLICY_FILES = "2-network/50-sriov-policy-*.yaml"
NETWORK_FILES = "2-network/60-sriov-network-*.yaml"
POD_FILES = "3-workload/70-pod-*.yaml"

_ROLLED_OUT = (
    "oc get profiles.tuned.openshift.io -n openshift-cluster-node-tuning-operator says whether "
    "the node has it"
)


def performance_profile(what: str) -> str:
    """A field of the PerformanceProfile, or what the operator makes of one."""
    return f"let the PerformanceProfile have {what}: {_apply(PROFILE_FILE)}"


def node_tuned(what: str) -> str:
    """What the TuneD profile sets that the operator makes of the PerformanceProfile."""
    return f"the PerformanceProfile has TuneD set {what}: {_apply(PROFILE_FILE)}; {_ROLLED_OUT}"


def tuned_patch(section: str, line: str) -> str:
    """A line of the Tuned object that adds to the PerformanceProfile."""
    return f"let the Tuned object have {line} in [{section}]: {_apply(PATCH_FILE)}; {_ROLLED_OUT}"


def sriov_policy(what: str) -> str:
    """A field of a SriovNetworkNodePolicy."""
    return f"let the SriovNetworkNodePolicy have {what}: {_apply(POLICY_FILES)}"


def sriov_network(what: str) -> str:
    """A field of a SriovNetwork, which its VFs get when a pod takes them."""
    return f"let the SriovNetwork have {what}: {_apply(NETWORK_FILES)}"


def workload_pod(what: str) -> str:
    """What the pod's own manifest says."""
    return f"let the pod {what}: {POD_FILES} of plimsoll tune render"


def port_policy(what: str) -> str:
    """What NMState's operator sets on the ports of nodes."""
    return f"let a NodeNetworkConfigurationPolicy of yours have {what}"


def machine_config(what: str) -> str:
    """What neither profile has a field for."""
    return f"let a MachineConfig of yours {what}: plimsoll tune render makes none for it"


def _apply(file: str) -> str:
    return f"plimsoll tune render, then oc apply -f {file}"


# Whether the value that was read serves where another was expected.
Serves = Callable[[str, str], bool]


def setting_path(name: str) -> str:
    """ "vm.stat_interval" is /proc/sys/vm/stat_interval."""
    return f"/proc/sys/{name.replace('.', '/')}"


def judge_setting(
    view: HostView,
    intent: Intent,
    name: str,
    *,
    harm: str,
    serves: Serves = str.__eq__,
    without: str = "",
) -> CheckJudgement:
    """Whether the setting `name` serves the intent; `harm` says what the other value does.

    Not applicable where the intent leaves it out. `without` says why a kernel that has
    no such setting is as expected; without it such a kernel is not applicable.
    Raises CannotRead.
    """
    expected_value = expected_sysctls(intent).get(name)
    if expected_value is None:
        return not_applicable(f"the intent does not set {name}")
    path = setting_path(name)
    value = view.find(path)
    expected = f"{name} = {expected_value}"
    if value is None:
        message = f"this kernel has no {name}"
        return (
            ok(without, Reading(path, "absent"), expected=expected)
            if without
            else not_applicable(message)
        )
    if serves(value, expected_value):
        return ok(f"{name} is {value}", Reading(path, value), expected=expected)
    return fail(
        f"{name} is {value}, not {expected_value}, {_who(intent, name)}: {harm}",
        Reading(path, value),
        expected=expected,
        steps=[set_it(intent, name, expected_value)],
    )


def set_it(intent: Intent, name: str, value: str) -> Step:
    """The step that sets it until the next boot."""
    line = f"{name}={value}"
    by_profile = name not in intent_sysctls(intent) and expected_sysctls(intent).get(name) == value
    openshift = node_tuned(line) if by_profile else tuned_patch("sysctl", line)
    return command("sysctl", "-w", line, openshift=openshift)


def at_least(value: str, expected: str) -> bool:
    """Whether a whole number is no less than the one expected."""
    found, least = whole_number(value), whole_number(expected)
    return found is not None and least is not None and found >= least


def _who(intent: Intent, name: str) -> str:
    return "as the intent says" if name in intent_sysctls(intent) else "as OpenShift's TuneD sets"
