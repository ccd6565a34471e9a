"""Attachments and pods that the presets do not have."""

import json
from typing import Any

import pytest

from plimsoll.tune.intent.intent import Intent
from tests.unit.tune.intent_documents import POOL, intent_with
from tests.unit.tune.render.rendering import documents, rendered
from tests.worded.says import Says, passage

CARD = {"name": "card", "pf_names": ["ens1"], "num_vfs": 8, "resource_name": "card"}
FAST = {"kind": "sriov", "name": "fast", "nic": "card"}


def config_of(**network: Any) -> dict[str, Any]:
    found = documents(intent_with(POOL, networks=[network]))
    config = json.loads(found[f"2-network/60-network-{network['name']}.yaml"]["spec"]["config"])
    assert isinstance(config, dict)
    return config


def test_macvlan() -> None:
    assert config_of(kind="macvlan", name="mac", master="ens2", mtu=9000) == {
        "cniVersion": "0.3.1",
        "type": "macvlan",
        "master": "ens2",
        "mode": "bridge",
        "mtu": 9000,
    }


def test_bridge() -> None:
    assert config_of(kind="bridge", name="br", master="br0", vlan=7) == {
        "cniVersion": "0.3.1",
        "type": "bridge",
        "bridge": "br0",
        "vlan": 7,
    }


# By the documentation of the CNI project's host-local and static, and of whereabouts.
@pytest.mark.parametrize(
    ("ipam", "expected"),
    [
        (
            {"type": "host-local", "range": "192.0.2.9/24", "gateway": "192.0.2.1"},
            {"type": "host-local", "subnet": "192.0.2.0/24", "gateway": "192.0.2.1"},
        ),
        (
            {"type": "static", "range": "192.0.2.9/24", "gateway": "192.0.2.1"},
            {
                "type": "static",
                "addresses": [{"address": "192.0.2.9/24", "gateway": "192.0.2.1"}],
            },
        ),
        (
            {"type": "whereabouts", "range": "192.0.2.0/24"},
            {"type": "whereabouts", "range": "192.0.2.0/24"},
        ),
        ({"type": "dhcp"}, {"type": "dhcp"}),
    ],
)
def test_addresses(ipam: dict[str, str], expected: dict[str, Any]) -> None:
    assert config_of(kind="macvlan", name="m", master="e", ipam=ipam)["ipam"] == expected


def test_a_range_of_vfs_goes_behind_the_interfaces_name() -> None:
    found = documents(intent_with(POOL, nics=[CARD | {"vf_range": "2-3"}]))
    policy = found["2-network/50-sriov-policy-card.yaml"]["spec"]
    assert policy["nicSelector"] == {"pfNames": ["ens1#2-3"]}


def test_a_port_that_is_not_divided_has_no_policy() -> None:
    whole = {"name": "card", "pf_names": ["ens1"]}
    assert not any("sriov" in path for path in documents(intent_with(POOL, nics=[whole])))


def with_pod(**pod: Any) -> Intent:
    given = {"name": "p", "cpus": 2, "memory": "1Gi"} | pod
    return intent_with(POOL, nics=[CARD], networks=[FAST], pods=[given])


def pod_of(intent: Intent) -> dict[str, Any]:
    found = documents(intent)["3-workload/70-pod-p.yaml"]
    assert isinstance(found, dict)
    return found


def test_a_network_is_in_its_pods_namespace() -> None:
    intent = with_pod(namespace="dpdk", networks=["fast"])
    network = documents(intent)["2-network/60-sriov-network-fast.yaml"]
    assert network["spec"]["networkNamespace"] == "dpdk"
    annotations = pod_of(intent)["metadata"]["annotations"]
    assert annotations == {"k8s.v1.cni.cncf.io/networks": "fast"}


def test_a_network_elsewhere_is_named_with_its_namespace() -> None:
    intent = intent_with(
        POOL,
        nics=[CARD],
        networks=[FAST | {"namespace": "default"}],
        pods=[{"name": "p", "cpus": 2, "memory": "1Gi", "networks": ["fast", "fast"]}],
    )
    pod = pod_of(intent)
    networks = pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"]
    assert networks == "default/fast,default/fast"
    (container,) = pod["spec"]["containers"]
    assert container["resources"]["limits"]["openshift.io/card"] == "2"


def test_a_burstable_pod_has_no_limits_of_cpu_and_memory() -> None:
    pod = pod_of(with_pod(qos="burstable", cpus=0.5, networks=["fast"]))
    (container,) = pod["spec"]["containers"]
    assert container["resources"] == {
        "limits": {"openshift.io/card": "1"},
        "requests": {"cpu": "0.5", "memory": "1Gi", "openshift.io/card": "1"},
    }


@pytest.mark.parametrize(
    ("card", "capabilities"),
    [
        ({"driver": "vfio-pci"}, {"add": ["IPC_LOCK"], "drop": ["ALL"]}),
        ({"rdma": True}, {"add": ["IPC_LOCK", "NET_RAW"], "drop": ["ALL"]}),
        ({"driver": "netdevice"}, {"drop": ["ALL"]}),
    ],
)
def test_capabilities_by_the_cards_that_are_used(
    card: dict[str, Any], capabilities: dict[str, list[str]]
) -> None:
    pod = {"name": "p", "cpus": 2, "memory": "1Gi", "networks": ["fast"]}
    intent = intent_with(POOL, nics=[CARD | card], networks=[FAST], pods=[pod])
    (container,) = pod_of(intent)["spec"]["containers"]
    assert container["securityContext"]["capabilities"] == capabilities


def test_no_capability_without_a_card_or_when_none_is_requested() -> None:
    for intent in (with_pod(), with_pod(networks=["fast"], capabilities=[])):
        (container,) = pod_of(intent)["spec"]["containers"]
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_too_many_capabilities_are_rendered_and_reported(says: Says) -> None:
    intent = with_pod(capabilities=["IPC_LOCK", "SYS_ADMIN"])
    file = rendered(intent)["3-workload/70-pod-p.yaml"]
    assert passage(file.text, "SYS_ADMIN") == says("SYS_ADMIN")
    assert "SYS_ADMIN, **too many**" in file.does


def test_a_pod_without_an_image_says_so(says: Says) -> None:
    file = rendered(with_pod())["3-workload/70-pod-p.yaml"]
    assert passage(file.text, "image", "pods[0].image") == says("image", "pods[0].image")
    # RFC 2606 keeps .invalid from ever being a registry.
    assert pod_of(with_pod())["spec"]["containers"][0]["image"].startswith("registry.invalid/")


def test_an_image_and_a_command_are_kept() -> None:
    file = rendered(with_pod(image="quay.io/x/y:1", command=["trex", "-i"]))
    assert "no image" not in file["3-workload/70-pod-p.yaml"].text
    (container,) = pod_of(with_pod(image="quay.io/x/y:1", command=["trex", "-i"]))["spec"][
        "containers"
    ]
    assert (container["image"], container["command"]) == ("quay.io/x/y:1", ["trex", "-i"])
