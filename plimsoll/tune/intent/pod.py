"""The intent's pods: what the workload asks of the node, and what must not happen to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from plimsoll.text.mistakes import brief, did_you_mean, mistake
from plimsoll.text.named_program import NotRun
from plimsoll.tune.intent.fields.section import Listed, ObjectName, Section, Switch, Text, Word
from plimsoll.tune.intent.hugepages import Memory, PodHugepages

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
    """What the runtime is to do for the pod's CPUs."""
    annotations: Mapping[Word, Text] = {}
    """Further annotations of the pod."""
    resources: Mapping[Word, Annotated[int, Field(ge=1)]] = {}
    """How many devices it requests in addition to the VFs, by a device plugin's name, such as
    example.com/fpga."""
    node_selector: Mapping[Word, Text] = {}
    """Labels of the nodes that it may run on."""
    runtime_class: ObjectName | None = None
    """Its runtime class; left out, upon OpenShift the performance profile's."""
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
