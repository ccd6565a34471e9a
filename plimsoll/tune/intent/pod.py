"""The intent's pods: what the workload asks of the node, and what must not happen to it.

Whether a node of the intent has room for a pod, empty as it may be. What is refused here no node
of the pool can ever run: the kubelet hands out the CPUs that are not reserved, the pages of each
size that were set aside, and the VFs of the node's ports. What it can run one after the other, or
on several nodes, is none of this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from plimsoll.text.mistakes import brief, did_you_mean, mistake
from plimsoll.text.named_program import NotRun
from plimsoll.tune.intent.fields.section import Listed, ObjectName, Section, Switch, Text, Word
from plimsoll.tune.intent.hugepages import (
    PAGE_BYTES,
    RESOURCE_SUFFIX,
    Hugepages,
    Memory,
    PageSize,
    PodHugepages,
    bytes_of,
    memory_text,
)
from plimsoll.tune.intent.nic import Nic
from plimsoll.tune.intent.processor import Cpus, NumaPolicy
from plimsoll.tune.intent.system import Kernel

# In the order of their numbers, 0 to 40 (Linux 6.1, include/uapi/linux/capability.h).
CAPABILITIES = (
    *("CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID"),
    *("SETPCAP", "LINUX_IMMUTABLE", "NET_BIND_SERVICE", "NET_BROADCAST", "NET_ADMIN", "NET_RAW"),
    *("IPC_LOCK", "IPC_OWNER", "SYS_MODULE", "SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE", "SYS_PACCT"),
    *("SYS_ADMIN", "SYS_BOOT", "SYS_NICE", "SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "MKNOD"),
    *("LEASE", "AUDIT_WRITE", "AUDIT_CONTROL", "SETFCAP", "MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG"),
    *("WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ", "PERFMON", "BPF", "CHECKPOINT_RESTORE"),
)
_PREFIX = "CAP_"


# The kernel's capabilities, as pods add them: by name, without the CAP_ before it.
def _check_capability(name: str) -> str:
    """One spelling alone: runtimes take several, and what is judged by name must have one."""
    if name in CAPABILITIES:
        return name
    plain = name.upper().removeprefix(_PREFIX)
    if plain in CAPABILITIES:
        raise mistake(f"found {brief(name)}", f"write {plain}")
    if plain == "ALL":
        raise mistake("ALL is root on the node", "name the ones that are needed, such as IPC_LOCK")
    raise mistake(
        f"{brief(name)} is not a capability of the kernel",
        did_you_mean(plain, CAPABILITIES, "write one of capabilities(7), such as IPC_LOCK"),
    )


Capability: TypeAlias = Annotated[
    str,
    AfterValidator(_check_capability),
    WithJsonSchema({"type": "string", "enum": list(CAPABILITIES)}),
]
# What becomes of an image and a command.
_MANIFEST = "rendered into a manifest"


def _check_cpus(given: Any) -> Any:
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given <= 8192:
        raise mistake(f"found {brief(given)}", "write a number of CPUs, without quotes")
    # YAML's 4.0 is four whole CPUs.
    return int(given) if given == int(given) else given


CpuCount: TypeAlias = Annotated[
    int | float,
    BeforeValidator(_check_cpus),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "maximum": 8192}),
]
# Of Kubernetes itself (its documentation, "Resource Management for Pods and Containers"), and
# what to write in their place.
_OWN_RESOURCES = {
    "cpu": "use the pod's cpus",
    "memory": "use the pod's memory",
    "ephemeral-storage": "leave it out: no intent asks for storage",
}


class Effects(Section):
    """What CRI-O's annotations do for the pod's CPUs; "off" is the annotation's "disable".

    The runtime hook fails silently, so the audit judges the effect and not the annotation.
    """

    cpu_quota: Switch = None
    """Off: the CFS quota does not hold the pod's CPUs up (cpu-quota.crio.io)."""
    cpu_load_balancing: Switch = None
    """Off: the scheduler balances no load onto them (cpu-load-balancing.crio.io)."""
    irq_load_balancing: Switch = None
    """Off: device interrupts stay off them (irq-load-balancing.crio.io)."""

    @property
    def annotations(self) -> dict[str, str]:
        """CRI-O's annotations, for what is off; on is what happens without."""
        expected = {
            "cpu-load-balancing.crio.io": self.cpu_load_balancing,
            "cpu-quota.crio.io": self.cpu_quota,
            "irq-load-balancing.crio.io": self.irq_load_balancing,
        }
        return {name: "disable" for name, switch in expected.items() if switch is False}


class Pod(Section):
    """One kind of pod, with one container."""

    name: ObjectName
    """The pod's name."""
    role: Literal["dut", "generator", "workload"] = "dut"
    """What it is of a test: the device under test, the traffic generator, or another workload."""
    namespace: ObjectName | None = None
    """Where it runs; left out, the intent's namespace."""
    qos: Literal["guaranteed", "burstable"] = "guaranteed"
    """guaranteed: limits equal requests, CPUs are whole and its own, memory is stated; or
    burstable."""
    cpus: CpuCount
    """How many CPUs it requests, whole ones if it is guaranteed."""
    memory: Memory | None = None
    """Memory that it requests in addition to hugepages, in powers of two: 1000Mi, 4Gi."""
    hugepages: PodHugepages | None = None
    """Hugepages that it requests; left out, none."""
    networks: Listed[ObjectName] = ()
    """Attachments that it joins, by name; each of kind sriov takes a VF."""
    effects: Effects = Effects()
    """What the runtime must do for the pod's CPUs."""
    annotations: Mapping[Word, Text] = {}
    """Further annotations of the pod."""
    resources: Mapping[Word, Annotated[int, Field(ge=1)]] = {}
    """How many devices it requests in addition to the VFs, by a device plugin's name, such as
    example.com/fpga."""
    node_selector: Mapping[Word, Text] = {}
    """Labels of the nodes that it may run on."""
    runtime_class: ObjectName | None = None
    """Its runtime class; left out, on OpenShift the performance profile's."""
    image: Annotated[Word, NotRun(_MANIFEST)] | None = None
    """The container's image."""
    command: Annotated[Listed[Text], NotRun(_MANIFEST)] = ()
    """The container's command and its arguments."""
    capabilities: Listed[Capability] = ()
    """Capabilities that the container adds, as the kernel names them, without CAP_. DPDK with VFIO
    takes IPC_LOCK, and no SYS_ADMIN."""

    @model_validator(mode="after")
    def _check_resources(self) -> Self:
        """Kubernetes' own have fields here, whose room on the node is checked."""
        for name in self.resources:
            if name in _OWN_RESOURCES or name.startswith("hugepages-"):
                remedy = _OWN_RESOURCES.get(name, "use the pod's hugepages, with size and total")
                raise mistake("is not a device", remedy, "resources", name)
            if "/" not in name:
                raise mistake(
                    f"{brief(name)} is nothing that a device plugin hands out",
                    "write it with its domain: example.com/fpga",
                    "resources",
                    name,
                )
        return self

    @model_validator(mode="after")
    def _check_guaranteed(self) -> Self:
        """Kubernetes' own rules, and its static CPU manager's for exclusive CPUs."""
        if self.qos != "guaranteed":
            return self
        if self.cpus != int(self.cpus):
            raise mistake(
                f"{self.cpus} CPUs are not a whole number, and a guaranteed pod shares none",
                "give whole CPUs, or use qos: burstable",
                "cpus",
            )
        if self.memory is None:
            raise mistake(
                "a guaranteed pod states its memory",
                "add for example memory: 1000Mi",
                "memory",
            )
        return self


def check_pod_cpus(pods: Sequence[Pod], cpus: Cpus) -> None:
    """Refuse a pod of more CPUs than a node has for pods; raises a mistake below `pods`."""
    most = len(cpus.isolated.cpus)
    for place, pod in enumerate(pods):
        if pod.cpus > most:
            raise mistake(
                f"{pod.name} asks for {pod.cpus:g} CPUs, and {most} are isolated",
                f"ask for {most} at most, or isolate more",
                "pods",
                place,
                "cpus",
            )


def check_pod_pages(
    pods: Sequence[Pod], hugepages: Hugepages | None, kernel: Kernel, policy: NumaPolicy | None
) -> None:
    """Refuse a pod of pages that no node sets aside; raises a mistake below `pods`.

    Pages that the kernel's own arguments ask for are not counted, so with them nothing is said.
    """
    if sets_pages_aside(kernel):
        return
    for place, pod in enumerate(pods):
        if pod.hugepages:
            one_node = policy == "single-numa-node" and pod.qos == "guaranteed"
            _check_pages(pod.hugepages, hugepages, place, one_node=one_node)


def _check_pages(
    expected: PodHugepages, hugepages: Hugepages | None, place: int, *, one_node: bool
) -> None:
    by_node = pages_by_node(hugepages, expected.size)
    if not by_node:
        sizes = list(dict.fromkeys(each.size for each in hugepages.pages)) if hugepages else []
        raise mistake(
            f"no pages of {expected.size} are set aside on the nodes",
            f"add pages of {expected.size} to hugepages"
            + (f", or use size: {' or '.join(sizes)}" if sizes else ""),
            "pods",
            place,
            "hugepages",
            "size",
        )
    # The kubelet's memory manager takes the pages of one pod from one node, under this policy.
    apart = one_node and None not in by_node
    most = max(by_node.values()) if apart else sum(by_node.values())
    if bytes_of(expected.total) > most:
        where = (
            "on the node that has the most, and single-numa-node takes them of one"
            if apart
            else "in all"
        )
        raise mistake(
            f"{expected.total} are more than the {memory_text(most)} of such pages {where}",
            f"ask for {memory_text(most)} at most, or set more pages of "
            f"{RESOURCE_SUFFIX[expected.size]} aside",
            "pods",
            place,
            "hugepages",
            "total",
        )


def sets_pages_aside(kernel: Kernel) -> bool:
    """Whether the kernel's own arguments do, in addition to what the intent says in hugepages."""
    return any(argument.startswith("hugepages=") for argument in kernel.arguments)


def pages_by_node(hugepages: Hugepages | None, size: PageSize) -> dict[int | None, int]:
    """Bytes in pages of `size` on each NUMA node; under None, those that the kernel spreads."""
    totals: dict[int | None, int] = {}
    for each in hugepages.pages if hugepages else ():
        if each.size == size:
            totals[each.node] = totals.get(each.node, 0) + each.count * PAGE_BYTES[size]
    return totals


def vfs_by_resource(nics: Sequence[Nic]) -> dict[str, int]:
    """How many VFs a node has under each resource's name, at most.

    Only for names of which every nic names its ports: how many ports of a kind a node has, an
    intent does not tell.
    """
    divided = [nic for nic in nics if nic.resource and nic.num_vfs is not None]
    unknown = {nic.resource for nic in divided if nic.by_kind}
    totals: dict[str, int] = {}
    for nic in divided:
        if nic.resource and nic.resource not in unknown:
            ports = max(len(nic.pf_names), len(nic.pci))
            totals[nic.resource] = totals.get(nic.resource, 0) + ports * len(nic.vfs)
    return totals


def check_pod_vfs(
    pods: Sequence[Pod], expected: Sequence[Mapping[str, str]], nics: Sequence[Nic]
) -> None:
    """Refuse a pod of more VFs than a node has; `expected` are the pods' requests, in order."""
    there = vfs_by_resource(nics)
    for place, (pod, requests) in enumerate(zip(pods, expected, strict=True)):
        for resource, most in there.items():
            if (requested := int(requests.get(resource, "0"))) > most:
                raise mistake(
                    f"{pod.name} takes {requested} of {resource}, and a node has {most}",
                    "give its nic more num_vfs or a wider vf_range, or let the pod take fewer",
                    "pods",
                    place,
                    "resources" if resource in pod.resources else "networks",
                )
