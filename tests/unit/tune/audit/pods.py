"""A pod's process for captures: the kubelet's groups by both drivers of both versions."""

from typing import Any

from tests.unit.tune.audit.processes import KTHREADD, process

UID = "1b2c3d4e-0000-4000-8000-0123456789ab"
# systemd's driver under version 2; a guaranteed pod lies right below kubepods.slice.
SLICE = f"/kubepods.slice/kubepods-pod{UID.replace('-', '_')}.slice"
SCOPE = f"{SLICE}/crio-0123456789abcdef.scope"
BURSTABLE = (
    "/kubepods.slice/kubepods-burstable.slice/"
    f"kubepods-burstable-pod{UID.replace('-', '_')}.slice/crio-0123456789abcdef.scope"
)
ROOT = "/sys/fs/cgroup"

# Of the intents here: an application of two workers in a pod whose balancing is off.
EXPECTED: dict[str, Any] = {
    "platform": "openshift",
    "pool": {"role": "worker"},
    "expected_processes": ["dpdk-testpmd"],
    "pods": [
        {
            "name": "dpdk",
            "cpus": 2,
            "memory": "1Gi",
            "effects": {"cpu_quota": False, "cpu_load_balancing": False},
        }
    ],
}
WORKERS = {901: ("dpdk-worker2", "2"), 902: ("dpdk-worker3", "3")}


def workload(path: str = SCOPE, cpus: str = "2-3", *, version: int = 2) -> dict[str, str]:
    """dpdk-testpmd in the group `path`, its workers on CPUs 2 and 3."""
    groups = f"0::{path}"
    if version == 1:
        groups = f"5:cpuset:{path}\n4:cpu,cpuacct:{path}\n0::/"
    return KTHREADD | process(900, "dpdk-testpmd", cpus=cpus, cgroup=groups, threads=WORKERS)
