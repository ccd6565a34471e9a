"""Page faults that had to wait for a disk."""

from __future__ import annotations

from typing import Literal

from pydantic import NonNegativeInt

from plimsoll.record.run.environment import ObservedHostRecord
from plimsoll.trial.criteria.hosts.host_bound import Breach, HostBound
from plimsoll.trial.criteria.hosts.host_criterion import HostCriterion, blame_of_host
from plimsoll.trial.outcome.host_metrics import HostFigure, HostQuestion


class MajorFaults(HostCriterion):
    """Maximum number of major page faults on each host in the whole trial.

    The kernel counts them by host, so whose they were is not known: on a host that the
    tester shares the trial is invalid, on the DUT's own it fails.
    """

    kind: Literal["major-faults"] = "major-faults"
    at_most: NonNegativeInt = 0

    @property
    def bound(self) -> HostBound:
        """The host's number of major faults."""
        return HostBound(
            self.kind,
            HostQuestion("sar-mem", "Page-major-faults-sec"),
            limit=self.at_most,
            unit="major page faults",
            statistic="total",
        )

    def blame(self, host: ObservedHostRecord, figure: HostFigure) -> Breach:
        """By host."""
        return blame_of_host(host)


CRITERION = MajorFaults
