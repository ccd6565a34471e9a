"""The kernel arguments that OpenShift's Node Tuning Operator makes of a performance profile.

Values and conditions as in openshift/cluster-node-tuning-operator: assets/performanceprofile
and components/tuned/tuned.go. TuneD joins the pieces in the order in which they first appear
in the chain of included profiles, which is network-latency, cpu-partitioning, the profile of
the processor's maker, the operator's own, and the patch. The order is that of releases 4.23
and 5.0 (commits 258062a2 and d2394aa8, August 2026); 4.16 to 4.22 have another for Intel,
with the same outcome, for the last of a name is the same in all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from plimsoll.tune.expected.kernel_argument import (
    KernelArgument,
    Vendor,
    arguments_of,
    hugepage_arguments,
)
from plimsoll.tune.expected.tuned_names import rendered_profile, tuned_cpu_mask
from plimsoll.tune.intent.intent import Intent

_PARENT = "TuneD, network-latency"
_OPERATOR = "Node Tuning Operator"
_PROFILE = "PerformanceProfile, additionalKernelArgs"
# The name of a piece in its [bootloader] section, and the arguments.
_Option = tuple[str, Iterable[KernelArgument]]


def realtime_hint(intent: Intent) -> bool:
    """Whether the operator takes the hint for on, which it does where it is not given."""
    return intent.hints.realtime is not False


def operator_arguments(intent: Intent, vendor: Vendor = "intel") -> tuple[KernelArgument, ...]:
    """All of them in order, also those that a later one overrides."""
    options: tuple[_Option, ...] = (
        ("cmdline_network_latency", _parents()),
        ("cmdline_cpu_part", _partitioning(intent)),
        *_makers_own(intent, vendor),
        *_operators_own(intent),
        ("cmdline_hugepages", hugepage_arguments(intent.hugepages, _OPERATOR)),
        ("cmdline_additionalArg", arguments_of(" ".join(intent.kernel.arguments), _PROFILE)),
    )
    isolated = intent.cpus.isolated.canonical
    patch = {
        name: text.replace("${isolated_cores}", isolated)
        for name, text in intent.kernel.tuned_bootloader.items()
    }
    return boot_line(dict(options), patch, f"Tuned, {rendered_profile(intent)}")


def _parents() -> Iterator[KernelArgument]:
    # TuneD has the second and third since 2.21, the one in OpenShift 4.16, ...
    yield from arguments_of("skew_tick=1 tsc=reliable rcupdate.rcu_normal_after_boot=1", _PARENT)
    # ... and this one since 2.25.
    yield from arguments_of("rcutree.nohz_full_patience_delay=1000", _PARENT, required=False)


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
    reserved = intent.cpus.housekeeping
    offlined = intent.cpus.offlined
    return (reserved, reserved | offlined.cpus) if offlined else (reserved,)


def _makers_own(intent: Intent, vendor: Vendor) -> Iterator[_Option]:
    source = f"{_OPERATOR}, {vendor}"
    if vendor == "intel":
        yield from _intels(intent, source)
    elif vendor == "amd":
        yield from _amds(intent, source)
    else:
        # Releases 4.16 to 4.18.
        passthrough = arguments_of("iommu.passthrough=1", source, required=False)
        yield "cmdline_iommu_arm", passthrough


def _intels(intent: Intent, source: str) -> Iterator[_Option]:
    realtime, high_power = realtime_hint(intent), bool(intent.hints.high_power)
    yield "cmdline_iommu_intel", arguments_of("intel_iommu=on iommu=pt", source)
    if realtime:
        yield "cmdline_realtime_intel", arguments_of("tsc=reliable", source)
        yield "cmdline_realtime_intel_nmi", arguments_of("nmi_watchdog=0 mce=off", source)
    if high_power:
        shallow = "processor.max_cstate=1 intel_idle.max_cstate=0"
        yield "cmdline_power_performance_intel", arguments_of(shallow, source)
    if high_power and realtime:
        yield "cmdline_idle_poll_intel", arguments_of("idle=poll", source)
    # TuneD chooses: disable up to Skylake and its kin, active from Ice Lake on.
    automatic = ("active", "disable")
    yield "cmdline_pstate", [_pstate(intent, "intel_pstate", automatic, source)]


def _amds(intent: Intent, source: str) -> Iterator[_Option]:
    realtime, high_power = realtime_hint(intent), bool(intent.hints.high_power)
    yield "cmdline_iommu_amd", arguments_of("iommu=pt", source)
    yield "cmdline_pstate", [_pstate(intent, "amd_pstate", ("guided",), source)]
    if realtime:
        yield "cmdline_realtime_amd", arguments_of("tsc=reliable nmi_watchdog=0 mce=off", source)
    if high_power:
        yield "cmdline_power_performance_amd", arguments_of("processor.max_cstate=1", source)
    if high_power and realtime:
        yield "cmdline_idle_poll_amd", arguments_of("idle=poll", source)


def _pstate(intent: Intent, name: str, automatic: tuple[str, ...], source: str) -> KernelArgument:
    """A governor that pods may choose needs a driver that listens to governors."""
    return KernelArgument(name, ("passive",) if intent.hints.per_pod_power else automatic, source)


def _operators_own(intent: Intent) -> Iterator[_Option]:
    isolated, realtime = intent.cpus.isolated.canonical, realtime_hint(intent)
    # Up to 4.22 with the real-time hint alone, and since then always.
    tickless = KernelArgument("nohz_full", (isolated,), _OPERATOR, required=realtime)
    yield "cmdline_cpu_part_nohzfull", [tickless]
    # Likewise, but its parent has it in any case.
    yield "cmdline_cpu_tuning", arguments_of("skew_tick=1", _OPERATOR)
    domain = "domain," if intent.cpus.balance_isolated is False else ""
    isolation = KernelArgument("isolcpus", (f"{domain}managed_irq,{isolated}",), _OPERATOR)
    yield "cmdline_isolation", [isolation]
    if realtime:
        # The first is so spelled in the operator's profile too.
        yield "cmdline_realtime_nosoftlookup", arguments_of("nosoftlockup", _OPERATOR)
        yield "cmdline_realtime_common", arguments_of("rcutree.kthread_prio=11", _OPERATOR)


# How TuneD makes one command line of the [bootloader] sections of profiles and their parents.
#
# As in redhat-performance/tuned at commit 35eed3ca: profiles/merger.py, and
# _get_effective_options of plugins/plugin_bootloader.py.
def boot_line(
    options: Mapping[str, Iterable[KernelArgument]], patch: Mapping[str, str], source: str
) -> tuple[KernelArgument, ...]:
    """The arguments of the options, in their order, with those of a profile that includes them.

    An option of the patch takes the place of the one that has its name, others come last.
    Its text is added, with or without a "+" before it; with a "-" its words are taken out of
    what comes before. `source` is the patch's name.
    """
    merged: dict[str, Iterable[KernelArgument] | str] = {**options}
    merged.update((name, text) for name, text in patch.items() if name.startswith("cmdline"))
    line: list[KernelArgument] = []
    for option in merged.values():
        if not isinstance(option, str):
            line += option
        elif option.startswith("-"):
            line = _without(line, option[1:].split())
        else:
            line += arguments_of(option.removeprefix("+"), source)
    return tuple(line)


def _without(line: list[KernelArgument], words: Iterable[str]) -> list[KernelArgument]:
    taken_out = frozenset(words)
    return [each for each in line if taken_out.isdisjoint(each.words)]
