"""How the parts of a node are set: containerd, its network, the kubelet.

As a machine with cgroup v1 and without systemd needs it: the kubelet is to accept that and to make
its groups itself, no OOM score is lowered, and the node's address is not loopback's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.integration.cluster.credentials import SERVICE

# Of the pods' networks and of the nodes' own.
INTERFACE = "node0"
PAUSE_IMAGE = "localhost/pause:1"
# Where Debian has CNI's plugins.
CNI_PLUGINS = Path("/usr/lib/cni")
# Attaches further networks; the node has it where `make multus` left one.
MULTUS = "multus"
_ALL_PODS = "10.78.0.0/16"


@dataclass(frozen=True)
class NodePlan:
    """One node, by its number from 1 on; its address and that of another are on one cable."""

    number: int

    @property
    def name(self) -> str:
        return f"node-{self.number}"

    @property
    def address(self) -> str:
        return f"10.77.0.{self.number}"

    @property
    def pods(self) -> str:
        """The subnet of its pods."""
        return f"10.78.{self.number}.0/24"


_CONTAINERD = """\
version = 2
root = "{folder}/root"
state = "{folder}/state"
[grpc]
address = "{folder}/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
path = "{folder}/opt"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{pause}"
restrict_oom_score_adj = true
disable_apparmor = true
stream_server_address = "127.0.0.1"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
SystemdCgroup = false
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "{folder}/plugins"
conf_dir = "{folder}/cni"
"""


def containerd_settings(folder: Path) -> str:
    """containerd's configuration; all that it keeps is in `folder`."""
    return _CONTAINERD.format(folder=folder, pause=PAUSE_IMAGE)


def network_settings(folder: Path, plan: NodePlan, multus: Path | None) -> dict[str, Any]:
    """CNI's: each pod has a cable to the node, and that leads it to the API server's service.

    With Multus, which does what its kubeconfig allows, pods may have further networks.
    """
    addresses = {
        "type": "host-local",
        "subnet": plan.pods,
        "routes": [{"dst": f"{SERVICE}/32"}, {"dst": _ALL_PODS}],
        "dataDir": f"{folder}/leases",
    }
    cable = {"type": "ptp", "ipMasq": False, "ipam": addresses}
    default: dict[str, Any] = {"cniVersion": "0.4.0", "name": "pods", "plugins": [cable]}
    if multus is None:
        return default
    plugin = {
        "type": "multus",
        "kubeconfig": str(multus),
        "cniDir": f"{folder}/multus",
        "binDir": f"{folder}/plugins",
        "delegates": [default],
    }
    return {"cniVersion": "0.4.0", "name": "multus", "plugins": [plugin]}


def kubelet_settings(
    folder: Path, plan: NodePlan, authority: Path, cgroup: str, *, static: bool
) -> dict[str, Any]:
    """The kubelet's configuration; with `static` guaranteed pods get CPUs of their own.

    A disk that is nearly full, as a developer's may be, evicts no pod. Shares of CPUs are not
    limited: on two CPUs two loops poll while the pod may only ask for less than both.
    """
    evicted = ("memory", "nodefs", "imagefs")
    # Of half a CPU that is kept from pods the policy makes a whole one; the scheduler takes it as
    # half, so that next to a pod's own CPU there is room for shares of the other.
    alone: dict[str, Any] = {"cpuManagerPolicy": "static", "systemReserved": {"cpu": "500m"}}
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "failCgroupV1": False,
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{cgroup}",
        "enforceNodeAllocatable": [],
        "containerRuntimeEndpoint": f"unix://{folder}/containerd.sock",
        "podLogsDir": f"{folder}/logs",
        "address": plan.address,
        "healthzPort": 0,
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": False},
            "x509": {"clientCAFile": str(authority)},
        },
        "authorization": {"mode": "AlwaysAllow"},
        "failSwapOn": False,
        "cpuCFSQuota": False,
        "makeIPTablesUtilChains": False,
        "localStorageCapacityIsolation": False,
        "resolvConf": "",
        "imageGCHighThresholdPercent": 100,
        "evictionHard": {f"{each}.available": "0%" for each in evicted},
        **(alone if static else {}),
    }


def kubelet_options(folder: Path, plan: NodePlan, config: Path) -> Sequence[str]:
    """The kubelet's command line; `config` is the node's kubeconfig."""
    return [
        *(f"--config={folder}/kubelet.json", f"--kubeconfig={config}"),
        *(f"--root-dir={folder}/kubelet", f"--cert-dir={folder}/kubelet-certificates"),
        *(f"--hostname-override={plan.name}", f"--node-ip={plan.address}"),
    ]
