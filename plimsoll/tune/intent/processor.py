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
    """The highest frequency of CPUs in kHz, as cpufreq has it; one needs the other."""

    isolated_khz: _Khz
    reserved_khz: _Khz


class Cpus(Section):
    """Every online CPU is reserved for the system or isolated for the workload.

    `shared` CPUs are for containers of guaranteed pods that ask for one more, which is not
    exclusive; hints.mixed_cpus lets them. `max_frequency` is what the operator sets CPUs to.
    `balance_isolated` off takes the isolated CPUs out of the scheduler's domains
    (isolcpus=domain); not specified is the platform's default, which is on in OpenShift.
    """

    reserved: CpuListField
    isolated: CpuListField
    offlined: CpuListField | None = None
    shared: CpuListField | None = None
    max_frequency: MaxFrequency | None = None
    smt: Literal["enabled", "disabled", "any"] = "any"
    balance_isolated: Switch = None

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
    """PerformanceProfile's workload hints; the same words serve other platforms.

    `high_power` forbids deep idle states; with `realtime` idle CPUs poll. `per_pod_power`
    lets pods choose the power settings of their CPUs. `realtime` also turns watchdogs off
    and makes the isolated CPUs tickless (nohz_full). `mixed_cpus` lets containers of guaranteed
    pods use cpus.shared besides their own.
    """

    high_power: Switch = None
    per_pod_power: Switch = None
    realtime: Switch = None
    mixed_cpus: Switch = None

    @model_validator(mode="after")
    def _check_exclusive(self) -> Self:
        if self.high_power and self.per_pod_power:
            raise mistake(
                "high_power holds all CPUs awake, so that pods have nothing to choose",
                "turn either high_power or per_pod_power off",
                "per_pod_power",
            )
        return self


class Irq(Section):
    """Whether device interrupts are kept off all isolated CPUs, or only those of pods that ask."""

    globally_disable_balancing: Switch = None
