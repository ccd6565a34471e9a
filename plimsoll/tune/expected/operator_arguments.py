"""The kernel arguments that OpenShift's Node Tuning Operator makes of a performance profile.

Values and conditions as in openshift/cluster-node-tuning-operator at commit d2394aa8
(21 August 2026): assets/performanceprofile/tuned, components/tuned/tuned.go, and the Tuned
objects under test/e2e/performanceprofile/testdata/render-expected-output. TuneD joins the
pieces in the order in which they first appear in the chain of included profiles
(plugin_bootloader and merger of redhat-performance/tuned at commit 2bfa4423); that chain is
network-latency, cpu-partitioning, the profile of the processor's maker, the operator's own,
and the patch.
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.tune.expected.cpu_mask import tuned_cpu_mask
from plimsoll.tune.expected.hugepage_arguments import hugepage_arguments
from plimsoll.tune.expected.kernel_argument import KernelArgument, Vendor, arguments_of
from plimsoll.tune.intent.intent import Intent

_PARENT = "TuneD, network-latency"
_OPERATOR = "Node Tuning Operator"
_PROFILE = "PerformanceProfile, additionalKernelArgs"
_PATCH = "Tuned, performance-patch"

_IOMMU: dict[Vendor, str] = {"intel": "intel_iommu=on iommu=pt", "amd": "iommu=pt", "arm": ""}
# The RT hint's arguments on x86; Arm has none of the three.
_REALTIME_X86 = "tsc=reliable nmi_watchdog=0 mce=off"
_HIGH_POWER: dict[Vendor, str] = {
    "intel": "processor.max_cstate=1 intel_idle.max_cstate=0",
    "amd": "processor.max_cstate=1",
    "arm": "",
}
_IDLE_POLL: dict[Vendor, str] = {"intel": "idle=poll", "amd": "idle=poll", "arm": ""}


def realtime_hint(intent: Intent) -> bool:
    """Whether the operator takes the hint for on, which it does where it is not given."""
    return intent.hints.realtime is not False


def operator_arguments(intent: Intent, vendor: Vendor = "intel") -> tuple[KernelArgument, ...]:
    """All of them in order, also those that a later one overrides."""
    return (
        # Newer releases of TuneD have more here; these are in all that OpenShift 4.10 on has.
        *arguments_of("skew_tick=1 tsc=reliable rcupdate.rcu_normal_after_boot=1", _PARENT),
        *_partitioning(intent),
        *_makers_own(intent, vendor),
        *_operators_own(intent),
        *hugepage_arguments(intent.hugepages, _OPERATOR),
        *(each for word in intent.kernel.arguments for each in arguments_of(word, _PROFILE)),
        *_patched(intent),
    )


def _partitioning(intent: Intent) -> Iterator[KernelArgument]:
    yield from arguments_of("nohz=on", _OPERATOR)
    yield KernelArgument("rcu_nocbs", (intent.cpus.isolated.canonical,), _OPERATOR)
    yield KernelArgument(
        "tuned.non_isolcpus", tuple(tuned_cpu_mask(each) for each in _left(intent)), _OPERATOR
    )
    yield KernelArgument(
        "systemd.cpu_affinity",
        tuple(",".join(map(str, sorted(each))) for each in _left(intent)),
        _OPERATOR,
    )


def _left(intent: Intent) -> tuple[frozenset[int], ...]:
    """What TuneD finds online and not isolated; before CPUs are taken offline, them too."""
    reserved = intent.cpus.reserved.cpus
    offlined = intent.cpus.offlined
    return (reserved, reserved | offlined.cpus) if offlined else (reserved,)


def _makers_own(intent: Intent, vendor: Vendor) -> Iterator[KernelArgument]:
    source = f"{_OPERATOR}, {vendor}"
    yield from arguments_of(_IOMMU[vendor], source)
    realtime, high_power = realtime_hint(intent), bool(intent.hints.high_power)
    if realtime and vendor != "arm":
        yield from arguments_of(_REALTIME_X86, source)
    if high_power:
        yield from arguments_of(_HIGH_POWER[vendor], source)
    if high_power and realtime:
        yield from arguments_of(_IDLE_POLL[vendor], source)
    if vendor != "arm":
        yield KernelArgument(*_pstate(intent, vendor), source)


def _pstate(intent: Intent, vendor: Vendor) -> tuple[str, tuple[str, ...]]:
    """On Intel TuneD chooses: disable up to Skylake and its kin, active from Ice Lake on."""
    automatic = ("active", "disable") if vendor == "intel" else ("guided",)
    return f"{vendor}_pstate", ("passive",) if intent.hints.per_pod_power else automatic


def _operators_own(intent: Intent) -> Iterator[KernelArgument]:
    isolated = intent.cpus.isolated.canonical
    yield KernelArgument("nohz_full", (isolated,), _OPERATOR)
    yield from arguments_of("skew_tick=1", _OPERATOR)
    domain = "domain," if intent.cpus.balance_isolated is False else ""
    yield KernelArgument("isolcpus", (f"{domain}managed_irq,{isolated}",), _OPERATOR)
    if realtime_hint(intent):
        yield from arguments_of("nosoftlockup rcutree.kthread_prio=11", _OPERATOR)


def _patched(intent: Intent) -> Iterator[KernelArgument]:
    for name, value in intent.kernel.tuned_bootloader.items():
        if name.startswith("cmdline"):
            yield from arguments_of(value.removeprefix("+"), _PATCH)
