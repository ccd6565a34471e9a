"""Which object has a setting of a node of OpenShift, and in which rendered file it is.

What is set on the node itself is put back there: by TuneD when it restarts, by the Machine
Config Operator, by the SR-IOV operator's daemon.
"""

from __future__ import annotations

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
