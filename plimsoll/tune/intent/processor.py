"""The intent's CPUs: which keep house, which carry packets, and what may disturb them."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from plimsoll.host.cpus import format_cpu_list
from plimsoll.traffic.mistakes import mistake
from plimsoll.tune.intent.cpu_list import CpuListField
from plimsoll.tune.intent.section import Section, Switch

NumaPolicy = Literal["none", "best-effort", "restricted", "single-numa-node"]


class Cpus(Section):
    """Every online CPU is reserved for the system or isolated for the workload.

    `balance_isolated` off takes the isolated CPUs out of the scheduler's domains
    (isolcpus=domain); not specified is the platform's default, which is on in OpenShift.
    """

    reserved: CpuListField
    isolated: CpuListField
    offlined: CpuListField | None = None
    smt: Literal["enabled", "disabled", "any"] = "any"
    balance_isolated: Switch = None

    @model_validator(mode="after")
    def _check_disjoint(self) -> Self:
        """PerformanceProfile's own rule; each CPU has one task."""
        taken: dict[int, str] = {}
        for field in ("reserved", "isolated", "offlined"):
            found = getattr(self, field) or ()
            if both := [cpu for cpu in found if cpu in taken]:
                raise mistake(
                    f"names CPUs that are {taken[both[0]]} already: {format_cpu_list(both)}",
                    "give each CPU to one of reserved, isolated and offlined",
                    field,
                )
            taken |= dict.fromkeys(found, field)
        return self


class Hints(Section):
    """PerformanceProfile's workload hints; the same words serve other platforms.

    `high_power` forbids deep idle states; with `realtime` idle CPUs poll. `per_pod_power`
    lets pods choose the power settings of their CPUs. `realtime` also turns watchdogs off
    and makes the isolated CPUs tickless (nohz_full).
    """

    high_power: Switch = None
    per_pod_power: Switch = None
    realtime: Switch = None

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
