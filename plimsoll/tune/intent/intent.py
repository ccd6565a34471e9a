"""The intent: what a host or a pool of nodes is to be, in one YAML document.

Everything that tunes or judges starts here. It says what is expected in the field's
terms, not how a platform is configured; what is left out is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, Self

from pydantic import model_validator

from plimsoll.text.mistakes import did_you_mean, mistake
from plimsoll.tune.intent.cluster import Cluster, Pool
from plimsoll.tune.intent.fields.section import (
    Extra,
    Listed,
    ObjectName,
    RenderedKind,
    Section,
    Switch,
    Text,
    Word,
)
from plimsoll.tune.intent.hugepages import RESOURCE_SUFFIX, SIZES_OF_KERNEL, Hugepages
from plimsoll.tune.intent.network import Network, SriovAttachment
from plimsoll.tune.intent.nic import NetDevice, Nic, check_shared_ports
from plimsoll.tune.intent.pod import Pod, check_pod_cpus, check_pod_pages, check_pod_vfs
from plimsoll.tune.intent.processor import Cpus, Hints, IrqBalancing, NumaPolicy
from plimsoll.tune.intent.system import Bios, Kernel, KubeletFields, Scheduling, Tuned
from plimsoll.tune.intent.trex import TrexGenerator


# The intent's services and kernel features that run next to the workload.
class Services(Section):
    """On, off, or not specified (left out): then neither rendered nor judged."""

    stalld: Switch = None
    """The daemon that lends starved threads some time on CPUs that real-time threads hold."""
    chronyd: Switch = None
    """The daemon that steers the clock by NTP."""
    tuned: Switch = None
    """TuneD upon a host; on OpenShift the operator runs it."""
    irqbalance: Switch = None
    """The daemon that moves device interrupts between CPUs."""
    fwupd: Switch = None
    """The timer that looks for new firmware (fwupd-refresh.timer)."""
    ksm: Switch = None
    """Kernel samepage merging, which scans memory for equal pages."""
    thp: Switch = None
    """Transparent hugepages: on is always, off is never."""
    swap: Switch = None
    """Swap space in use."""
    numa_balancing: Switch = None
    """The kernel's automatic migration of pages between NUMA nodes (kernel.numa_balancing)."""


Platform = Literal["openshift", "bare-metal", "vm"]


class Intent(Section):
    """What is expected of one host, or of each node of one pool.

    Raises, through `load_intent`, InputError with file and line.
    """

    name: ObjectName
    """Names the performance profile and all that is rendered: an RFC 1123 label, lower case
    letters, digits and `-`, at most 63."""
    description: Text | None = None
    """One line for people, put into the README of what is rendered."""
    platform: Platform
    """What it is rendered and judged for: a pool of OpenShift nodes, a host of its own, or a guest,
    whose hypervisor's settings are left out."""
    pool: Pool | None = None
    """Which nodes of an OpenShift cluster it is for; openshift needs it."""
    namespace: ObjectName | None = None
    """Where pods run, and networks are, that name none; left out, it is the intent's name."""
    cpus: Cpus
    """What each online CPU is for."""
    hugepages: Hugepages | None = None
    """The hugepages that the node sets aside at boot; left out, none are requested."""
    kernel: Kernel = Kernel()
    """The kernel's flavour, page size and further arguments."""
    numa_policy: NumaPolicy | None = None
    """The kubelet's topology manager policy: how strictly a pod's CPUs, memory and devices come
    from one NUMA node. Left out, it is neither rendered nor judged."""
    hints: Hints = Hints()
    """What the workload asks of power management, of ticks and of watchdogs."""
    irq: IrqBalancing = IrqBalancing()
    """Where device interrupts may go."""
    user_level_networking: Switch = None
    """On: kernel-driven ports get as many queues as there are reserved CPUs."""
    net_devices: Listed[NetDevice] = ()
    """On OpenShift, the ports that `user_level_networking` is of; empty: all."""
    nics: Listed[Nic] = ()
    """The network cards' ports, one entry for each use of one or more of them."""
    networks: Listed[Network] = ()
    """The attachments that pods join in addition to the cluster's own network."""
    pods: Listed[Pod] = ()
    """The kinds of pods that the node runs."""
    services: Services = Services()
    """Which services and kernel features run next to the workload."""
    scheduling: Scheduling = Scheduling()
    """Scheduler and timer settings of the kernel."""
    tuned: Tuned = Tuned()
    """The TuneD profile that is rendered."""
    kubelet: KubeletFields | None = None
    """On OpenShift, fields of the kubelet's configuration beyond those that other sections mean,
    as `systemReserved: {memory: 11Gi}`; for the profile's annotation kubeletconfig.experimental."""
    cluster: Cluster = Cluster()
    """What OpenShift itself keeps off the isolated CPUs, or leaves out."""
    generator: TrexGenerator = TrexGenerator()
    """Where the traffic generator polls, and TRex's configuration."""
    bios: Bios = Bios()
    """The firmware's settings: a checklist for people, and what is read over Redfish."""
    expected_processes: Listed[Word] = ()
    """Names (comm) of processes that belong on isolated CPUs, in addition to the pods';
    TuneD upon a host leaves them there."""
    annotations: Mapping[RenderedKind, Mapping[Word, Text]] = {}
    """On OpenShift, annotations by the kind of object: every rendered object of that kind gets
    them."""
    extra: Listed[Extra] = ()
    """On OpenShift, patches that are merged into the rendered objects, after all else."""

    def patches_of(self, kind: str, name: str) -> Iterator[Mapping[str, Any]]:
        """What is merged into the object of that kind and name, in this order."""
        given = {str(each): found for each, found in self.annotations.items()}
        if kind in given:
            yield {"metadata": {"annotations": dict(given[kind])}}
        yield from (each.patch for each in self.extra if each.is_for(kind, name))

    def nic(self, name: str) -> Nic:
        """The nic of that name; raises KeyError."""
        return {each.name: each for each in self.nics}[name]

    def network(self, name: str) -> Network:
        """The attachment of that name; raises KeyError."""
        return {each.name: each for each in self.networks}[name]

    def namespace_of(self, pod: Pod) -> str:
        """Where the pod runs: its own namespace, or the one of all."""
        return pod.namespace or self.namespace or self.name

    def namespace_of_network(self, network: Network) -> str:
        """Its own, or that of the first pod that joins it, or the one of all."""
        if network.namespace is not None:
            return network.namespace
        joined = (self.namespace_of(pod) for pod in self.pods if network.name in pod.networks)
        return next(joined, self.namespace or self.name)

    def runtime_class_of(self, pod: Pod) -> str | None:
        """The pod's own, or on OpenShift the one that the performance profile brings."""
        if pod.runtime_class or self.platform != "openshift":
            return pod.runtime_class
        return f"performance-{self.name}"

    def resources_of(self, pod: Pod) -> dict[str, str]:
        """All that the pod requests, as Kubernetes writes it: cpu, memory, hugepages, VFs."""
        expected = {"cpu": f"{pod.cpus:g}"}
        if pod.memory:
            expected["memory"] = pod.memory
        if pod.hugepages:
            suffix = RESOURCE_SUFFIX[pod.hugepages.size]
            expected[f"hugepages-{suffix}"] = pod.hugepages.total
        devices = dict(pod.resources)
        for name in pod.networks:
            network = self.network(name)
            if isinstance(network, SriovAttachment) and (card := self.nic(network.nic).resource):
                devices[card] = devices.get(card, 0) + 1
        return expected | {name: str(count) for name, count in devices.items()}

    @model_validator(mode="after")
    def _check_platform(self) -> Self:
        if self.platform == "openshift" and self.pool is None:
            raise mistake("OpenShift tunes pools of nodes", "add pool: with its role", "pool")
        return self

    @model_validator(mode="after")
    def _check_openshifts(self) -> Self:
        """What other platforms have nothing of."""
        if self.platform == "openshift":
            return self
        for field, given in (
            ("cpus.shared", self.cpus.shared),
            ("cpus.max_frequency", self.cpus.max_frequency),
            ("net_devices", self.net_devices),
            ("annotations", self.annotations),
            ("extra", self.extra),
        ):
            if given:
                place = field.split(".")
                raise mistake("is rendered for OpenShift alone", "leave it out", *place)
        if self.kubelet:
            raise mistake(
                "is rendered for OpenShift alone", "leave it out, or use openshift", "kubelet"
            )
        for number, nic in enumerate(self.nics):
            if nic.pf_names and nic.pci:
                raise mistake(
                    "is given with pf_names, and a nic of a host names its ports in one way",
                    "make two nics, one with pf_names and one with pci",
                    "nics",
                    number,
                    "pci",
                )
        for field in ("object", "priority"):
            if getattr(self.tuned, field) is not None:
                raise mistake(
                    "is of Tuned objects, which OpenShift alone has", "leave it out", "tuned", field
                )
        return self

    @model_validator(mode="after")
    def _check_realtime(self) -> Self:
        """The Node Tuning Operator refuses the pair."""
        if self.kernel.realtime and self.hints.realtime is False:
            raise mistake(
                "is off, and the real-time kernel is requested",
                "turn it on, or use kernel.realtime: false",
                "hints",
                "realtime",
            )
        return self

    @model_validator(mode="after")
    def _check_shared_cpus(self) -> Self:
        """The Node Tuning Operator's own rule; shared CPUs that no pod may use are lost."""
        if self.hints.mixed_cpus and self.cpus.shared is None:
            raise mistake("has no CPUs to share", "add cpus.shared", "hints", "mixed_cpus")
        if self.cpus.shared is not None and not self.hints.mixed_cpus:
            raise mistake("are for no pod", "add hints: {mixed_cpus: on}", "cpus", "shared")
        return self

    @model_validator(mode="after")
    def _check_net_devices(self) -> Self:
        if self.net_devices and not self.user_level_networking:
            raise mistake(
                "are left alone", "add user_level_networking: on, or leave them out", "net_devices"
            )
        return self

    @model_validator(mode="after")
    def _check_page_sizes(self) -> Self:
        if self.kernel.page_size is None:
            return self
        sizes = SIZES_OF_KERNEL[self.kernel.page_size]
        for place, each in enumerate(self.hugepages.pages if self.hugepages else ()):
            if each.size not in sizes:
                raise mistake(
                    f"a kernel of {self.kernel.page_size} pages has no hugepages of {each.size}",
                    f"use {', '.join(sizes[:-1])} or {sizes[-1]}, or another kernel.page_size",
                    "hugepages",
                    "pages",
                    place,
                    "size",
                )
        return self

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        for field in ("nics", "networks", "pods"):
            seen: set[str] = set()
            for place, each in enumerate(getattr(self, field)):
                if each.name in seen:
                    raise mistake(
                        f"{each.name} is given twice", "give each its own", field, place, "name"
                    )
                seen.add(each.name)
        return self

    @model_validator(mode="after")
    def _check_nics_of_networks(self) -> Self:
        nics = {each.name: each for each in self.nics}
        for place, network in enumerate(self.networks):
            if not isinstance(network, SriovAttachment):
                continue
            if network.nic not in nics:
                remedy = did_you_mean(network.nic, nics) if nics else "add it to nics"
                raise mistake(f"no nic is {network.nic}", remedy, "networks", place, "nic")
            if nics[network.nic].num_vfs is None or nics[network.nic].resource_name is None:
                raise mistake(
                    f"nic {network.nic} has no VFs to give",
                    "give it num_vfs and resource_name",
                    "networks",
                    place,
                    "nic",
                )
        return self

    @model_validator(mode="after")
    def _check_networks_of_pods(self) -> Self:
        names = [each.name for each in self.networks]
        for place, pod in enumerate(self.pods):
            for number, name in enumerate(pod.networks):
                if name not in names:
                    remedy = did_you_mean(name, names) if names else "add it to networks"
                    raise mistake(
                        f"no network is {name}", remedy, "pods", place, "networks", number
                    )
        return self

    @model_validator(mode="after")
    def _check_pods_fit(self) -> Self:
        """After the checks of names, which the pods' requests are found by."""
        check_pod_cpus(self.pods, self.cpus)
        check_pod_pages(self.pods, self.hugepages, self.kernel, self.numa_policy)
        check_pod_vfs(self.pods, [self.resources_of(pod) for pod in self.pods], self.nics)
        return self

    @model_validator(mode="after")
    def _check_ports(self) -> Self:
        check_shared_ports(self.nics)
        return self
