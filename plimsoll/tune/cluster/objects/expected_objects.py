"""The objects that an intent asks of a cluster, as rendered, and what counts of each.

Where rendering must write a value that the intent left open (a default, a log level, a pod's
image) that value is not required of a cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from plimsoll.tune.cluster.kinds import (
    CLUSTER_NETWORK,
    CONSOLE,
    KUBELET_CONFIG,
    MACHINE_CONFIG,
    MACHINE_CONFIG_POOL,
    MONITORING_CONFIG,
    NETWORK_ATTACHMENT,
    PERFORMANCE_PROFILE,
    POD,
    SRIOV_NETWORK,
    SRIOV_POLICY,
    TUNED,
)
from plimsoll.tune.cluster.objects.expected_object import (
    ExpectedObject,
    Meanings,
    reduced,
    with_intents_extra,
)
from plimsoll.tune.cluster.objects.expected_rights import expected_namespaces, expected_rights
from plimsoll.tune.cluster.objects.text_meaning import (
    cpu_set,
    json_fields,
    tuned_sections,
    yaml_fields,
)
from plimsoll.tune.cluster.selected_networks import selected_networks
from plimsoll.tune.expected.kubelet import ANNOTATION, MEMORY_FIELDS, expected_kubelet
from plimsoll.tune.expected.tuned import has_patch
from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.fields.section import Section
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.network import Network, SriovAttachment
from plimsoll.tune.intent.nic import Nic
from plimsoll.tune.intent.pod import Pod
from plimsoll.tune.kubernetes.kube_object import parse_quantity
from plimsoll.tune.render.files.rendered_file import Manifest
from plimsoll.tune.render.openshift.cluster_services import (
    console,
    monitoring_config,
    network_diagnostics,
)
from plimsoll.tune.render.openshift.kubelet_config import kubelet_housekeeping
from plimsoll.tune.render.openshift.machine_config_pool import (
    BUILT_IN,
    machine_config_pool,
    workload_partitioning,
)
from plimsoll.tune.render.openshift.networks import network_attachment, sriov_network, sriov_policy
from plimsoll.tune.render.openshift.performance_profile import performance_profile, tuned_patch
from plimsoll.tune.render.openshift.pod import pod_manifest

_CPU_SETS = ("isolated", "offlined", "reserved", "shared")
_PROFILE_MEANINGS = Meanings(
    reads={
        f"metadata.annotations.{ANNOTATION}": json_fields,
        **{f"spec.cpu.{field}": cpu_set for field in _CPU_SETS},
    },
    # The CRD's own words on what a field means that is not set.
    defaults={
        "spec.cpu.balanceIsolated": True,
        "spec.globallyDisableIrqLoadBalancing": False,
        "spec.kernelPageSize": "4k",
        "spec.net.userLevelNetworking": False,
        "spec.numa.topologyPolicy": "best-effort",
        "spec.realTimeKernel.enabled": False,
        "spec.workloadHints.highPowerConsumption": False,
        "spec.workloadHints.mixedCpus": False,
        "spec.workloadHints.perPodPowerManagement": False,
        "spec.workloadHints.realTime": True,
    },
    keys={
        "spec.hugepages.pages": ("size", "node"),
        "spec.net.devices": ("interfaceName", "vendorID", "deviceID"),
    },
    whole=frozenset({"spec.hugepages.pages", "spec.net.devices", "spec.nodeSelector"}),
)
_POOL_MEANINGS = Meanings(
    keys={"spec.machineConfigSelector.matchExpressions": ("key", "operator")},
    whole=frozenset({"spec.nodeSelector.matchLabels"}),
)
_TUNED_MEANINGS = Meanings(
    reads={"spec.profile.*.data": tuned_sections},
    keys={"spec.profile": ("name",), "spec.recommend": ("profile",)},
)
_MACHINE_CONFIG_MEANINGS = Meanings(
    keys={
        "spec.config.storage.files": ("path",),
        "spec.config.systemd.units": ("name",),
        "spec.config.systemd.units.*.dropins": ("name",),
    },
)
_SRIOV_POLICY_MEANINGS = Meanings(
    defaults={
        "spec.deviceType": "netdevice",
        "spec.excludeTopology": False,
        "spec.isRdma": False,
        "spec.needVhostNet": False,
    },
    whole=frozenset({"spec.nodeSelector", "spec.nicSelector"}),
)
_SRIOV_NETWORK_MEANINGS = Meanings(
    reads={"spec.capabilities": json_fields, "spec.ipam": json_fields},
    defaults={"spec.vlan": 0, "spec.vlanQoS": 0},
)
_ATTACHMENT_MEANINGS = Meanings(reads={"spec.config": json_fields})
_MONITORING_MEANINGS = Meanings(reads={"data.config.yaml": yaml_fields})
_KUBELET_MEANINGS = Meanings(
    reads={
        "spec.kubeletConfig.reservedSystemCPUs": cpu_set,
        **{
            f"spec.kubeletConfig.{field}.{amount}": parse_quantity
            for field in ("kubeReserved", "systemReserved")
            for amount in ("memory", "cpu", "ephemeral-storage")
        },
        "spec.kubeletConfig.evictionHard.memory.available": parse_quantity,
        "spec.kubeletConfig.reservedMemory.*.limits.*": parse_quantity,
    },
    keys={"spec.kubeletConfig.reservedMemory": ("numaNode",)},
)
# What the intent has a word for; the rest is the operator's and others' to set.
_KUBELET_FIELDS = ("cpuManagerPolicy", "reservedSystemCPUs")
_KUBELET_NUMA_FIELDS = (
    "cpuManagerPolicyOptions",
    "memoryManagerPolicy",
    "topologyManagerPolicy",
)
_NETWORKS = "metadata.annotations.k8s.v1.cni.cncf.io/networks"
_RESOURCES = "spec.containers.*.resources"


def expected_performance_profile(intent: Intent, pool: Pool) -> ExpectedObject:
    """The PerformanceProfile."""
    manifest = performance_profile(intent, pool)
    spec = dict(manifest["spec"])
    if not _says(intent, "kernel") or not _says(intent.kernel, "realtime"):
        del spec["realTimeKernel"]
    annotations = manifest["metadata"].get("annotations")
    expected = reduced(manifest, annotations=annotations, spec=spec)
    found = ExpectedObject(PERFORMANCE_PROFILE, expected, _PROFILE_MEANINGS)
    return with_intents_extra(intent, found)


def expected_pool(intent: Intent, pool: Pool) -> ExpectedObject | None:
    """The MachineConfigPool; None for those that every cluster has."""
    if pool.role in BUILT_IN:
        return None
    expected = ExpectedObject(MACHINE_CONFIG_POOL, machine_config_pool(pool), _POOL_MEANINGS)
    return with_intents_extra(intent, expected)


def expected_tuned(intent: Intent, pool: Pool) -> ExpectedObject | None:
    """The Tuned patch; None where the profile says it all."""
    if not has_patch(intent):
        return None
    expected = ExpectedObject(TUNED, tuned_patch(intent, pool), _TUNED_MEANINGS)
    return with_intents_extra(intent, expected)


def expected_machine_configs(intent: Intent, pool: Pool) -> tuple[ExpectedObject, ...]:
    """The MachineConfigs that are rendered."""
    housekeeping = intent.cluster.kubelet_housekeeping
    manifests = [
        *([workload_partitioning(intent, pool)] if intent.cluster.workload_partitioning else []),
        *([kubelet_housekeeping(housekeeping, pool)] if housekeeping else []),
    ]
    return tuple(
        with_intents_extra(intent, ExpectedObject(MACHINE_CONFIG, each, _MACHINE_CONFIG_MEANINGS))
        for each in manifests
    )


def expected_kubelet_config(intent: Intent) -> ExpectedObject:
    """The KubeletConfig that the Node Tuning Operator makes of the profile."""
    fields = (*_KUBELET_FIELDS, *(_KUBELET_NUMA_FIELDS if intent.numa_policy else ()))
    expected = expected_kubelet(intent)
    settings = {field: expected[field] for field in fields if field in expected}
    settings |= dict(intent.kubelet or {})
    if "reservedMemory" in expected and not settings.keys().isdisjoint(MEMORY_FIELDS):
        settings["reservedMemory"] = expected["reservedMemory"]
    manifest: Manifest = {
        "apiVersion": KUBELET_CONFIG.api_version,
        "kind": KUBELET_CONFIG.name,
        "metadata": {"name": f"performance-{intent.name}"},
        "spec": {"kubeletConfig": settings},
    }
    return ExpectedObject(KUBELET_CONFIG, manifest, _KUBELET_MEANINGS)


def expected_services(intent: Intent) -> tuple[ExpectedObject, ...]:
    """Monitoring, network diagnostics and the console, as far as the intent has them."""
    cluster = intent.cluster
    found = []
    if cluster.reduced_monitoring is not None:
        manifest = monitoring_config(cluster.reduced_monitoring)
        found.append(ExpectedObject(MONITORING_CONFIG, manifest, _MONITORING_MEANINGS))
    if cluster.network_diagnostics is not None:
        manifest = network_diagnostics(cluster.network_diagnostics)
        found.append(ExpectedObject(CLUSTER_NETWORK, manifest))
    if cluster.console is not None:
        manifest = console(cluster.console)
        state = {"managementState": manifest["spec"]["managementState"]}
        found.append(ExpectedObject(CONSOLE, reduced(manifest, spec=state)))
    return tuple(with_intents_extra(intent, each) for each in found)


def expected_policies(intent: Intent, pool: Pool) -> tuple[ExpectedObject, ...]:
    """The SriovNetworkNodePolicies, one for each nic that is divided."""
    return tuple(
        with_intents_extra(intent, _policy(nic, nic.num_vfs, pool))
        for nic in intent.nics
        if nic.num_vfs is not None
    )


def _policy(nic: Nic, num_vfs: int, pool: Pool) -> ExpectedObject:
    manifest = sriov_policy(nic, num_vfs, pool)
    spec = dict(manifest["spec"])
    for field, said in (("deviceType", "driver"), ("isRdma", "rdma")):
        if not _says(nic, said):
            del spec[field]
    return ExpectedObject(SRIOV_POLICY, reduced(manifest, spec=spec), _SRIOV_POLICY_MEANINGS)


def expected_network(intent: Intent, network: Network) -> ExpectedObject:
    """What is to be there for an attachment: a SriovNetwork for VFs, else the attachment."""
    if isinstance(network, SriovAttachment):
        manifest = sriov_network(intent, network)
        expected = ExpectedObject(SRIOV_NETWORK, manifest, _SRIOV_NETWORK_MEANINGS)
        return with_intents_extra(intent, expected)
    return expected_attachment(intent, network)


def expected_attachment(intent: Intent, network: Network) -> ExpectedObject:
    """The NetworkAttachmentDefinition, as it may have been written without the operator."""
    manifest = network_attachment(intent, network)
    expected = ExpectedObject(NETWORK_ATTACHMENT, manifest, _ATTACHMENT_MEANINGS)
    return with_intents_extra(intent, expected)


def expected_pod(intent: Intent, pod: Pod) -> ExpectedObject:
    """The pod: its resources, runtime class, annotations, capabilities and nodes."""
    manifest = pod_manifest(intent, pod)
    spec = manifest["spec"]
    rendered = spec["containers"][0]
    container = {"name": rendered["name"], "resources": rendered["resources"]}
    if pod.image:
        container["image"] = pod.image
    if pod.command:
        container["command"] = list(pod.command)
    if added := _says(pod, "capabilities") and list(pod.capabilities):
        container["securityContext"] = {"capabilities": {"add": added}}
    kept = {field: spec[field] for field in ("nodeSelector", "runtimeClassName") if field in spec}
    expected = ExpectedObject(
        POD,
        reduced(
            manifest,
            annotations=manifest["metadata"].get("annotations"),
            spec={"containers": [container], **kept},
        ),
        _pod_meanings(intent.namespace_of(pod)),
        required=False,
    )
    return with_intents_extra(intent, expected)


def _pod_meanings(namespace: str) -> Meanings:
    """Every resource of a container is a quantity, whatever its name."""
    return Meanings(
        reads={
            _NETWORKS: partial(selected_networks, namespace=namespace),
            f"{_RESOURCES}.limits.*": parse_quantity,
            f"{_RESOURCES}.requests.*": parse_quantity,
        },
        keys={"spec.containers": ("name",)},
    )


def expected_objects(intent: Intent, pool: Pool) -> Iterator[ExpectedObject]:
    """All that are rendered for a cluster with the operators, in the order of application."""
    yield from filter(None, [expected_pool(intent, pool)])
    yield expected_performance_profile(intent, pool)
    yield from filter(None, [expected_tuned(intent, pool)])
    yield from expected_machine_configs(intent, pool)
    yield from expected_services(intent)
    yield from expected_namespaces(intent)
    yield from expected_policies(intent, pool)
    yield from (expected_network(intent, each) for each in intent.networks)
    yield from expected_rights(intent)
    yield from (expected_pod(intent, each) for each in intent.pods)


def _says(section: Section, field: str) -> bool:
    """Whether the intent has the field, and not only its default."""
    return field in section.model_fields_set
