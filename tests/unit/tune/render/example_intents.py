"""Intents for OpenShift that between them have every field that is rendered."""

from collections.abc import Iterator
from typing import Any

from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.load import load_preset
from tests.unit.tune.intent_documents import POOL, intent_with
from tests.unit.tune.render.rendering import documents

IPAM = {"type": "host-local", "range": "192.0.2.9/24", "gateway": "192.0.2.1"}
# Every field that the presets leave out.
EVERYTHING = intent_with(
    POOL,
    cpus={"reserved": "0", "isolated": "1-2", "offlined": "3", "balance_isolated": False},
    kernel={"page_size": "4k", "arguments": ["audit=0"]},
    services={"thp": True, "fwupd": False, "irqbalance": True},
    scheduling={"rt_runtime_us": -1, "sysctls": {"vm.swappiness": "1"}},
    nics=[
        {
            "name": "mlx",
            "vendor": "15b3",
            "device_id": "1017",
            "pf_names": ["ens1f0np0"],
            "num_vfs": 4,
            "vf_range": "0-1",
            "rdma": True,
            "vlan": 100,
            "trust": False,
            "resource_name": "mlx",
        },
        {
            "name": "intel",
            "pci": ["0000:05:00.0"],
            "num_vfs": 2,
            "driver": "vfio-pci",
            "resource_name": "intel",
        },
    ],
    networks=[
        {"kind": "sriov", "name": "fast", "nic": "mlx", "namespace": "default", "ipam": IPAM},
        {"kind": "macvlan", "name": "mac", "master": "ens2", "mtu": 1500, "ipam": IPAM},
        {
            "kind": "bridge",
            "name": "br",
            "master": "br0",
            "vlan": 7,
            "ipam": {"type": "static", "range": "192.0.2.9/24"},
        },
    ],
    pods=[
        {
            "name": "generator",
            "role": "generator",
            "namespace": "tests",
            "cpus": 2,
            "memory": "1Gi",
            "networks": ["fast", "mac"],
            "image": "quay.io/example/trex:1",
            "command": ["trex", "-i"],
            "node_selector": {"kubernetes.io/hostname": "node1"},
        },
        {"name": "client", "role": "workload", "qos": "burstable", "cpus": 0.5},
    ],
)
INTENTS: dict[str, Intent] = {
    name: load_preset(name)
    for name in ("openshift-deterministic", "openshift-sno-vdu", "telco-core-rds")
} | {"everything": EVERYTHING}


def manifests(intent: Intent) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects that go to a cluster, by path."""
    for path, document in documents(intent).items():
        if not path.startswith("generator/"):
            yield path, document
