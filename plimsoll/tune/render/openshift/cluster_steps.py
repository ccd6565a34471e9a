"""In which order a cluster gets a rendering, each step with the command that proves it done.

What a paused pool does is the Machine Config Operator's own code (openshift/machine-config-
operator at commit 7ff337a4): it goes on to render and to name what its nodes are to have
(pkg/controller/render), says Updated=False until they have it (pkg/controller/node/status.go),
and restarts none. So Updated can be waited for only after that has been seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.network import SriovAttachment
from plimsoll.tune.intent.nic import Nic
from plimsoll.tune.intent.pod import Pod
from plimsoll.tune.render.files.rendered_file import RenderedFile
from plimsoll.tune.render.openshift.kubelet_config import housekeeping_name
from plimsoll.tune.render.openshift.machine_config_pool import BUILT_IN, partitioning_name
from plimsoll.tune.render.openshift.namespace import constraint_name, pods_by_namespace
from plimsoll.tune.render.openshift.networks import NAMESPACE as SRIOV_NAMESPACE
from plimsoll.tune.render.openshift.performance_profile import NAMESPACE as TUNED_NAMESPACE
from plimsoll.tune.render.openshift.pod import capabilities_of

_READY_TIMEOUT = "10m"
# A server takes ten minutes and more to restart, and a pool restarts one node at a time.
_UPDATED_TIMEOUT = "120m"
# Labels of a node's own; who sets them takes them from another node.
_GIVEN = ("kubernetes.io/hostname", "kubernetes.io/arch", "kubernetes.io/os")


def cluster_steps(intent: Intent, files: Sequence[RenderedFile]) -> Iterator[str]:
    """The steps, in Markdown, without their numbers."""
    pool = intent.pool
    if pool is None:
        raise ValueError("an intent for OpenShift has a pool")
    folders = {each.folder for each in files}
    if any(each.path == "bios-checklist.md" for each in files):
        yield "Set the firmware by `bios-checklist.md`, whose last column is where it shows."
    yield from _pool_steps(intent, pool)
    if "2-network" in folders:
        yield from _network_steps(intent, pool)
    if "3-workload" in folders:
        yield from _pod_steps(intent, pool)
    if "generator" in folders:
        yield "`generator/` goes to the generator's host."


def _pool_steps(intent: Intent, pool: Pool) -> Iterator[str]:
    name = f"machineconfigpool {pool.role}"
    patch = f"oc patch {name} --type merge -p"
    if pool.role not in BUILT_IN:
        yield (
            "`oc apply -f 1-node/10-machine-config-pool.yaml`, then label the nodes: "
            f"`oc label node NODE {_assigned(pool.node_labels)}`. Done when `oc get {name}` counts "
            "them all under MACHINECOUNT and UPDATEDMACHINECOUNT."
        )
    yield (
        "Pause the pool, so that its nodes restart once and not once a file: "
        f'`{patch} \'{{"spec":{{"paused":true}}}}\'`. Done when '
        f"`oc get {name} -o jsonpath='{{.spec.paused}}'` prints `true`."
    )
    made = ", ".join(f"`{each}`" for each in _machine_configs(intent, pool))
    yield (
        "`oc apply -f 1-node/`. The operators make MachineConfigs of it, which takes a minute or "
        "two; **wait for them before you go on**. Done when "
        f"`oc get {name} -o jsonpath='{{.spec.configuration.source[*].name}}'` has {made}, and "
        f"`oc get {name}` says UPDATED False (True, if the nodes had all of it before)."
    )
    away = " The API is away while the only node restarts: repeat the command."
    yield (
        f'`{patch} \'{{"spec":{{"paused":false}}}}\'`, and wait for the restarts: `oc wait '
        f"machineconfigpool/{pool.role} --for=condition=Updated --timeout={_UPDATED_TIMEOUT}`."
        f"{away if intent.cluster.single_node else ''} Done when `oc get {name} -o "
        "jsonpath='{.spec.configuration.name} {.status.configuration.name}'` prints one name "
        f"twice, and `oc get profiles.tuned.openshift.io -n {TUNED_NAMESPACE}` says APPLIED True "
        "and DEGRADED False for each node; `oc debug node/NODE -- chroot /host cat /proc/cmdline` "
        "has the arguments below."
    )


def _machine_configs(intent: Intent, pool: Pool) -> Iterator[str]:
    """The operators' by the names that they give them, then our own."""
    yield f"50-performance-{intent.name}"
    yield f"50-nto-{pool.role}"
    # With a number behind it where the pool has several KubeletConfigs.
    yield f"99-{pool.role}-generated-kubelet"
    if intent.cluster.workload_partitioning:
        yield partitioning_name(pool)
    if intent.cluster.kubelet_housekeeping:
        yield housekeeping_name(pool)


def _network_steps(intent: Intent, pool: Pool) -> Iterator[str]:
    divided = [nic for nic in intent.nics if nic.num_vfs is not None]
    if divided or any(isinstance(each, SriovAttachment) for each in intent.networks):
        yield (
            f"Install the SR-IOV Network Operator. Done when `oc get csv -n {SRIOV_NAMESPACE}` "
            f"says Succeeded.{_single_node(intent)}"
        )
    proofs = [_offered(pool, divided)] if divided else []
    for namespace in dict.fromkeys(map(intent.namespace_of_network, intent.networks)):
        here = (n.name for n in intent.networks if intent.namespace_of_network(n) == namespace)
        proofs.append(
            f"`oc get network-attachment-definitions -n {namespace}` lists {', '.join(here)}"
        )
    if not proofs:
        proofs = [f"`oc get namespace {' '.join(pods_by_namespace(intent))}` finds them"]
    restarts = " Nodes may be drained and restart, one after the other." if divided else ""
    yield f"`oc apply -f 2-network/`.{restarts} Done when {'; and '.join(proofs)}."


def _single_node(intent: Intent) -> str:
    """By OpenShift's documentation, "Configuring the SR-IOV Network Operator"."""
    if not intent.cluster.single_node:
        return ""
    return (
        " A single node cannot be drained: `oc patch sriovoperatorconfig default "
        f'-n {SRIOV_NAMESPACE} --type merge -p \'{{"spec":{{"disableDrain":true}}}}\'`'
    )


def _offered(pool: Pool, nics: Sequence[Nic]) -> str:
    """Not by syncStatus, which may still be that of before."""
    resources = dict.fromkeys(nic.resource for nic in nics if nic.resource)
    columns = [
        f"{name.partition('/')[2]}:.status.allocatable.{_escaped(name)}" for name in resources
    ]
    counts = ", ".join(f"{len(nic.vfs)} of {nic.resource_name} for each port" for nic in nics)
    return (
        f"`oc get node -l {_selector(pool.node_labels)} -o "
        f"custom-columns='NODE:.metadata.name,{','.join(columns)}'` counts {counts}"
    )


def _pod_steps(intent: Intent, pool: Pool) -> Iterator[str]:
    yield from _label_steps(intent, pool)
    if unnamed := [pod.name for pod in intent.pods if not pod.image]:
        yield f"Set the image of {', '.join(unnamed)}: in the intent, then render anew."
    proofs = [_ready(intent, pod) for pod in intent.pods]
    yield f"`oc apply -f 3-workload/`. Done when {'; and '.join(proofs)}."
    yield "Judge it all: `plimsoll tune audit --kube --intent` with the same intent."


def _label_steps(intent: Intent, pool: Pool) -> Iterator[str]:
    """For pods that choose among the pool's nodes by a label that nothing else sets."""
    pods_by_labels: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for pod in intent.pods:
        others = pod.node_selector.items() - pool.node_labels.items()
        chosen = tuple(sorted(each for each in others if each[0] not in _GIVEN))
        if chosen:
            pods_by_labels.setdefault(chosen, []).append(pod.name)
    for labels, names in pods_by_labels.items():
        yield (
            f"Label the nodes that {', '.join(names)} may run on; without them pods stay Pending: "
            f"`oc label node NODE {_assigned(dict(labels))}`. Done when "
            f"`oc get node -l {_selector(dict(labels))}` lists them."
        )


def _ready(intent: Intent, pod: Pod) -> str:
    namespace = intent.namespace_of(pod)
    paths, printed = "{.status.qosClass}", pod.qos.capitalize()
    # An administrator's own rights may let in a pod that adds none by another constraint.
    if capabilities_of(intent, pod):
        paths += " {.metadata.annotations.openshift\\.io/scc}"
        printed += f" {constraint_name(namespace)}"
    return (
        f"`oc wait pod/{pod.name} -n {namespace} --for=condition=Ready --timeout={_READY_TIMEOUT}` "
        f"returns and `oc get pod {pod.name} -n {namespace} -o jsonpath='{paths}'` prints "
        f"`{printed}`"
    )


def _assigned(labels: dict[str, str]) -> str:
    return " ".join(f"{key}={text}" for key, text in labels.items())


def _selector(labels: dict[str, str]) -> str:
    return ",".join(f"{key}={text}" for key, text in labels.items())


def _escaped(resource: str) -> str:
    """A dot parts fields in a path, unless a backslash stands before it."""
    return resource.replace(".", "\\.")
