"""What an intent says of the node's own software: firmware, kernel, TuneD and kubelet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from plimsoll.text.mistakes import brief, mistake
from plimsoll.text.named_program import NotRun
from plimsoll.tune.intent.fields.section import (
    FreeFields,
    Listed,
    ObjectName,
    Section,
    Switch,
    Text,
    Word,
)
from plimsoll.tune.kubernetes.kube_object import parse_quantity


class Bios(Section):
    """What no manifest can set: a checklist for people, and what is read over Redfish."""

    smt: Switch = None
    """Several threads a core (Hyper-Threading)."""
    turbo: Switch = None
    """Frequencies above the nominal (Turbo Boost, Core Performance Boost)."""
    c_states: Switch = None
    """Idle power states of the CPUs, C1E and deeper."""
    aspm: Switch = None
    """Active State Power Management: PCIe links that sleep."""
    power_profile: Literal["max-performance", "balanced", "power-saving"] | None = None
    """The vendor's system profile, by its purpose."""


class Kernel(Section):
    """The kernel that boots, and its command line beyond what the other sections imply."""

    realtime: bool = False
    """Whether the real-time kernel (PREEMPT_RT) must run."""
    page_size: Literal["4k", "64k"] | None = None
    """The kernel's own page size, 64k on arm64 alone; left out, the platform's."""
    arguments: Annotated[Listed[Word], NotRun("of a kernel, rendered and audited")] = ()
    """Kernel arguments added to those that the other sections imply, in this order."""
    tuned_bootloader: Mapping[Word, Text] = {}
    """Variables of the section [bootloader] of the TuneD profile, on top of the platform's, such as
    `cmdline_crash: nohz_full=2-15,18-31`."""

    @model_validator(mode="after")
    def _check_page_size(self) -> Self:
        """The Node Tuning Operator's own rule: there is no such kernel."""
        if self.realtime and self.page_size == "64k":
            raise mistake(
                "the real-time kernel has pages of 4k",
                "use page_size: 4k, or realtime: false",
                "page_size",
            )
        return self


class Scheduling(Section):
    """Scheduler and timer settings; what is left out is neither set nor judged."""

    rt_runtime_us: Annotated[int, Field(ge=-1, le=1_000_000)] | None = None
    """kernel.sched_rt_runtime_us, in µs: how much of each period (1 s) real-time tasks may
    take; -1 means unlimited."""
    timer_migration: Literal[0, 1] | None = None
    """kernel.timer_migration: 1 lets timers of idle CPUs move to busy ones. It is 1 on OpenShift
    and 0 by TuneD's profiles for bare metal."""
    stat_interval_s: Annotated[int, Field(ge=1, le=86400)] | None = None
    """vm.stat_interval, in s: how often the kernel's memory counters are summed up, on every CPU.
    """
    hung_task_timeout_s: Annotated[int, Field(ge=0, le=86400)] | None = None
    """kernel.hung_task_timeout_secs, in s: after how long a blocked task is reported; 0 is never.
    """
    fifo_priority: Annotated[int, Field(ge=1, le=99)] | None = None
    """SCHED_FIFO priority of the polling threads; left out, they run as SCHED_OTHER."""
    sysctls: Mapping[Word, Text] = {}
    """Further kernel settings (sysctl) by their names, values as text."""


# Sections that other fields of the intent mean; and one that runs programs as root.
_OTHERS = {
    "main": "use tuned.include",
    "bootloader": "use kernel.tuned_bootloader",
    "sysctl": "use scheduling.sysctls",
    "script": "leave it out: it runs programs as root",
}


def _check_sections(sections: Mapping[str, Mapping[str, str]]) -> Mapping[str, Mapping[str, str]]:
    for name, options in sections.items():
        if name in _OTHERS:
            raise mistake("is not a section of its own here", _OTHERS[name], name)
        if options.get("type") == "script":
            raise mistake("runs programs as root", "leave it out", name, "type")
    return sections


_Options: TypeAlias = Mapping[Word, Text]


class Tuned(Section):
    """The profile that is rendered, and on OpenShift the Tuned object that holds it."""

    name: ObjectName | None = None
    """The profile's name; left out, performance-patch on OpenShift, and upon hosts plimsoll- with
    the intent's name."""
    object: ObjectName | None = None
    """On OpenShift, the name of the Tuned object that holds it; left out, the profile's."""
    priority: Annotated[int, Field(ge=0, le=99)] | None = None
    """On OpenShift, of the profiles that fit a node the one with the lowest wins; left out, 19,
    before the operator's own, 20."""
    include: Listed[Word] = ()
    """Profiles that it includes, of which the last takes precedence; empty: the operator's own, and
    upon hosts network-latency."""
    sections: Annotated[Mapping[Word, _Options], AfterValidator(_check_sections)] = {}
    """Sections of its own by name, each with its options, such as scheduler with its groups."""


# What the Node Tuning Operator sets whatever the annotation says (openshift/cluster-node-tuning-
# operator, components/kubeletconfig/kubeletconfig.go), and which field of the intent means it.
_OPERATORS = {
    "apiVersion": "leave it out",
    "kind": "leave it out",
    "cpuManagerPolicy": "leave it out: a performance profile makes it static",
    "cpuManagerReconcilePeriod": "leave it out: a performance profile makes it 5s",
    "reservedSystemCPUs": "use cpus.reserved",
    "topologyManagerPolicy": "use numa_policy",
    "memoryManagerPolicy": "use numa_policy: restricted and single-numa-node make it Static",
}

_AMOUNTS = (
    ("systemReserved", "memory"),
    ("kubeReserved", "memory"),
    ("evictionHard", "memory.available"),
)


def _check_kubelet(given: FreeFields) -> FreeFields:
    for name in given:
        if name in _OPERATORS:
            raise mistake("is the operator's to set", _OPERATORS[name], name)
    for name, field in _AMOUNTS:
        _check_amount(given, name, field)
    return given


def _check_amount(given: FreeFields, name: str, field: str) -> None:
    """The operator adds them up, for what it reserves on the first NUMA node."""
    fields = given.get(name, {})
    if not isinstance(fields, dict):
        raise mistake(f"found {brief(fields)}", "write its fields: {memory: 11Gi}", name)
    try:
        parse_quantity(fields.get(field, "0"))
    except ValueError as error:
        raise mistake(str(error), "write for example 11Gi", name, field) from None


KubeletFields: TypeAlias = Annotated[FreeFields, AfterValidator(_check_kubelet)]
