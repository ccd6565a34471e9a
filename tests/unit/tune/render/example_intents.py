"""Intents for OpenShift that between them have every field that is rendered."""

import functools
from typing import Any

from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.load import load_preset
from tests.unit.tune.intent_documents import POOL, intent_with
from tests.unit.tune.render.rendering import documents

IPAM = {"type": "host-local", "range": "192.0.2.9/24", "gateway": "192.0.2.1"}
# Every field that the presets leave out.
EVERYTHING = intent_with(
    POOL,
    cpus={
        "reserved": "0",
        "isolated": "1-2",
        "offlined": "3",
        "shared": "4",
        "balance_isolated": False,
        "max_frequency": {"isolated_khz": 3000000, "reserved_khz": 2500000},
    },
    hints={"mixed_cpus": True},
    user_level_networking=True,
    net_devices=[{"interface": "ens5f*"}, {"vendor": "8086", "device_id": "158b"}],
    kubelet={"systemReserved": {"memory": "11Gi"}},
    tuned={
        "name": "everything",
        "object": "site-everything",
        "priority": 5,
        "sections": {"scheduler": {"group.ptp": "0:f:10:*:ptp4l.*"}},
    },
    annotations={"PerformanceProfile": {"example.com/wave": "10"}},
    extra=[{"kind": "Pod", "name": "client", "patch": {"metadata": {"labels": {"a": "b"}}}}],
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
            "priority": 10,
            "exclude_topology": True,
            "link_type": "eth",
            "vhost_net": True,
            "node_selector": {"kubernetes.io/hostname": "node1"},
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
        {
            "kind": "sriov",
            "name": "fast",
            "nic": "mlx",
            "namespace": "default",
            "ipam": IPAM,
            "capabilities": {"mac": True},
            "link_state": "enable",
            "min_tx_rate_mbps": 100,
            "max_tx_rate_mbps": 1000,
            "vlan_qos": 3,
        },
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


@functools.cache
def manifests(name: str) -> dict[str, dict[str, Any]]:
    """The objects of the intent of that name that go to a cluster, by path; to be read only."""
    return {
        path: document
        for path, document in documents(INTENTS[name]).items()
        if not path.startswith("generator/")
    }
