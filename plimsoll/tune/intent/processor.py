"""The intent's CPUs: which keep house, which carry packets, and what may disturb them."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from plimsoll.host.cpus import format_cpu_list
from plimsoll.text.mistakes import mistake
from plimsoll.tune.intent.fields.cpu_list import CpuListField
from plimsoll.tune.intent.fields.section import Section, Switch

NumaPolicy = Literal["none", "best-effort", "restricted", "single-numa-node"]


# CPUs of today run at some 1 to 6 GHz.
_Khz = Annotated[int, Field(ge=100_000, le=10_000_000)]


class MaxFrequency(Section):
    """The highest frequency of CPUs in kHz, as cpufreq reports it; one needs the other."""

    isolated_khz: _Khz
    """Highest frequency of the isolated CPUs, in kHz."""
    reserved_khz: _Khz
    """Highest frequency of the reserved CPUs, in kHz."""


class Cpus(Section):
    """Every online CPU is reserved for the system or isolated for the workload."""

    reserved: CpuListField
    """CPUs of the operating system and of housekeeping, as the kernel lists CPUs (0-1,16-17)."""
    isolated: CpuListField
    """CPUs of the workload, as the kernel lists CPUs."""
    offlined: CpuListField | None = None
    """CPUs to be taken offline, as the kernel lists CPUs."""
    shared: CpuListField | None = None
    """On OpenShift, CPUs that containers of guaranteed pods may use in addition to their own,
    which is not exclusive; it needs `hints.mixed_cpus`."""
    max_frequency: MaxFrequency | None = None
    """On OpenShift, what the operator limits the CPUs' frequency to; judged in the profile and
    not on nodes."""
    smt: Literal["enabled", "disabled", "any"] = "any"
    """Whether cores show several threads (enabled), one (disabled), or either."""
    balance_isolated: Switch = None
    """Off: the scheduler balances no load onto isolated CPUs (isolcpus=domain). Left out, it is the
    platform's default, which is on in OpenShift."""

    @model_validator(mode="after")
    def _check_disjoint(self) -> Self:
        """PerformanceProfile's own rule; each CPU has one task."""
        taken: dict[int, str] = {}
        for field in ("reserved", "isolated", "offlined", "shared"):
            found = getattr(self, field) or ()
            if both := [cpu for cpu in found if cpu in taken]:
                raise mistake(
                    f"names CPUs that are {taken[both[0]]} already: {format_cpu_list(both)}",
                    "give each CPU to one of reserved, isolated, offlined and shared",
                    field,
                )
            taken |= dict.fromkeys(found, field)
        return self

    @property
    def housekeeping(self) -> frozenset[int]:
        """What no pod has for itself: the reserved and the shared."""
        return self.reserved.cpus | (self.shared.cpus if self.shared else frozenset())


class Hints(Section):
    """PerformanceProfile's workload hints; the same words serve other platforms."""

    high_power: Switch = None
    """On: no deep idle states; with `realtime` idle CPUs poll."""
    per_pod_power: Switch = None
    """On: pods choose the power settings of their CPUs. It excludes `high_power`."""
    realtime: Switch = None
    """On: isolated CPUs are tickless (nohz_full) and watchdogs are off."""
    mixed_cpus: Switch = None
    """On: containers of guaranteed pods may ask for `cpus.shared`."""

    @model_validator(mode="after")
    def _check_exclusive(self) -> Self:
        if self.high_power and self.per_pod_power:
            raise mistake(
                "high_power holds all CPUs awake, so that pods have nothing to choose",
                "turn either high_power or per_pod_power off",
                "per_pod_power",
            )
        return self


class IrqBalancing(Section):
    """Whether device interrupts are kept off all isolated CPUs, or only those of pods that ask."""

    globally_disable_balancing: Switch = None
    """On: device interrupts stay off all isolated CPUs; off: only off those of pods that ask for
    it."""
