"""Time that a hypervisor took from the CPUs under test."""

from __future__ import annotations

from typing import Literal

from plimsoll.record.run.environment import ObservedHostRecord
from plimsoll.text.units import RatioField
from plimsoll.trial.criteria.hosts.host_bound import Breach, HostBound
from plimsoll.trial.criteria.hosts.host_criterion import HostCriterion
from plimsoll.trial.outcome.host_metrics import CpuRole, HostFigure, HostQuestion


class Steal(HostCriterion):
    """At most this share of the time of each CPU is stolen: the CPU was ready, and not run.

    Neither DUT nor tester is at fault, so the trial is inconclusive: it is invalid.
    """

    kind: Literal["steal"] = "steal"
    # 1 ms of each second: as much as a queue of a thousand frames at 1 Mpps outlasts.
    at_most: RatioField = 0.001
    cpus: CpuRole = "under-test"

    @property
    def bound(self) -> HostBound:
        """Each CPU's share of stolen time."""
        return HostBound(
            self.kind,
            HostQuestion("mpstat", "Busy-CPU", where=(("type", ("steal",)),), cpus=self.cpus),
            limit=self.at_most,
            unit="ratio",
            words="{} of its time was stolen by the hypervisor",
        )

    def blame(self, host: ObservedHostRecord, figure: HostFigure) -> Breach:
        """Neither the tester's nor the DUT's."""
        return "invalid"


CRITERION = Steal
