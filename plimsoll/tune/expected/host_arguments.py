"""The kernel arguments of a host without an operator: what we render for bare metal and VMs.

What each does is in the kernel's kernel-parameters.txt; the choice follows TuneD's
cpu-partitioning and DPDK's guide for Linux, and the workload hints have the meaning that
they have in a performance profile.
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.tune.expected.irq import keeps_irqs_off
from plimsoll.tune.expected.kernel_argument import (
    KernelArgument,
    Vendor,
    arguments_of,
    hugepage_arguments,
)
from plimsoll.tune.intent.intent import Intent

_CPUS, _HINTS, _SERVICES = "intent, cpus", "intent, hints", "intent, services"
_KERNEL, _NICS, _HUGEPAGES = "intent, kernel.arguments", "intent, nics", "intent, hugepages"


def host_arguments(intent: Intent, vendor: Vendor = "intel") -> tuple[KernelArgument, ...]:
    """All of them in order; the intent's own come last and so override."""
    return (
        *_isolation(intent),
        *_realtime(intent),
        *_power(intent, vendor),
        *_iommu(intent, vendor),
        *_memory(intent),
        *hugepage_arguments(intent.hugepages, _HUGEPAGES),
        *(each for word in intent.kernel.arguments for each in arguments_of(word, _KERNEL)),
    )


def _isolation(intent: Intent) -> Iterator[KernelArgument]:
    isolated, reserved = intent.cpus.isolated.canonical, intent.cpus.reserved.canonical
    domain = "domain," if intent.cpus.balance_isolated is False else ""
    yield KernelArgument("isolcpus", (f"{domain}managed_irq,{isolated}",), _CPUS)
    if keeps_irqs_off(intent):
        yield KernelArgument("irqaffinity", (reserved,), _CPUS)
    yield KernelArgument("systemd.cpu_affinity", (reserved,), _CPUS)
    # A guest has the threads that it is given.
    if intent.cpus.smt == "disabled" and intent.platform == "bare-metal":
        yield from arguments_of("nosmt", _CPUS)


def _realtime(intent: Intent) -> Iterator[KernelArgument]:
    if not intent.hints.realtime:
        return
    isolated = intent.cpus.isolated.canonical
    yield from arguments_of(f"nohz=on nohz_full={isolated} rcu_nocbs={isolated}", _HINTS)
    yield from arguments_of("skew_tick=1 nosoftlockup nmi_watchdog=0", _HINTS)
    # A guest's clock may jump when it is moved, which only the watchdog finds out.
    if intent.platform == "bare-metal":
        yield from arguments_of("tsc=reliable", _HINTS)


def _power(intent: Intent, vendor: Vendor) -> Iterator[KernelArgument]:
    if not intent.hints.high_power or vendor == "arm":
        return
    yield from arguments_of("processor.max_cstate=1", _HINTS)
    if vendor == "intel":
        yield from arguments_of("intel_idle.max_cstate=0", _HINTS)
    if intent.hints.realtime:
        yield from arguments_of("idle=poll", _HINTS)


def _iommu(intent: Intent, vendor: Vendor) -> Iterator[KernelArgument]:
    """vfio-pci needs one; a pass-through domain for the kernel's own devices costs nothing."""
    if vendor == "arm" or not any(nic.driver == "vfio-pci" for nic in intent.nics):
        return
    yield from arguments_of("intel_iommu=on iommu=pt" if vendor == "intel" else "iommu=pt", _NICS)


def _memory(intent: Intent) -> Iterator[KernelArgument]:
    thp, numa_balancing = intent.services.thp, intent.services.numa_balancing
    if thp is not None:
        yield from arguments_of(f"transparent_hugepage={'always' if thp else 'never'}", _SERVICES)
    if numa_balancing is not None:
        word = "enable" if numa_balancing else "disable"
        yield from arguments_of(f"numa_balancing={word}", _SERVICES)
