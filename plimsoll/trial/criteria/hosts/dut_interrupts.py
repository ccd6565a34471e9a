"""Interrupts of the CPUs on which the DUT polls."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from plimsoll.record.run.environment import ObservedHostRecord
from plimsoll.trial.criteria.hosts.host_bound import Breach, HostBound
from plimsoll.trial.criteria.hosts.host_criterion import HostCriterion, NameValues
from plimsoll.trial.outcome.host_metrics import HostFigure, HostQuestion


class DutInterrupts(HostCriterion):
    """Maximum number of interrupts a second on each CPU of the DUT, all kinds together.

    `without` names interrupts that do not count, as /proc/interrupts begins their lines:
    LOC for the timer, or the number of an IRQ. `statistic: max` bounds the worst reading.
    """

    kind: Literal["dut-interrupts"] = "dut-interrupts"
    at_most: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    without: NameValues = ()
    statistic: Literal["mean", "max"] = "mean"

    @property
    def bound(self) -> HostBound:
        """Each CPU's rate of interrupts."""
        without = (("irq", self.without),) if self.without else ()
        return HostBound(
            self.kind,
            HostQuestion("procstat", "interrupts-sec", without=without, cpus="dut"),
            limit=self.at_most,
            unit="a second",
            words="interrupts came at {}",
            statistic=self.statistic,
            parts=("irq", "desc"),
        )

    def blame(self, host: ObservedHostRecord, figure: HostFigure) -> Breach:
        """The DUT's: where its interrupts go is part of how it is set up."""
        return "fail"


CRITERION = DutInterrupts
