"""CPU time withheld from processes under test by the quotas of their cgroups."""

from __future__ import annotations

from typing import Literal

from pydantic import NonNegativeInt

from plimsoll.generator.registry.generators import generator_programs
from plimsoll.record.run.environment import ObservedHostRecord
from plimsoll.trial.criteria.hosts.host_bound import Breach, HostBound
from plimsoll.trial.criteria.hosts.host_criterion import HostCriterion
from plimsoll.trial.outcome.host_metrics import HostFigure, HostQuestion

# A cgroup with nothing else in it is not under test.
_AGENT = "agent"


class Throttled(HostCriterion):
    """Maximum number of its quota's periods in which each cgroup under test was throttled.

    Those are the cgroups of the tester and the DUT, and those above them that have a quota.
    One that holds the tester makes the trial invalid, one of the DUT alone fails it.
    """

    kind: Literal["throttled"] = "throttled"
    at_most: NonNegativeInt = 0

    @property
    def bound(self) -> HostBound:
        """Each cgroup's number of throttled periods."""
        return HostBound(
            self.kind,
            HostQuestion(
                "cgroup",
                "cpu-throttled-periods-sec",
                without=(("process", (_AGENT,)),),
                by=("cgroup", "process"),
            ),
            limit=self.at_most,
            unit="throttled periods",
            statistic="total",
            each=True,
        )

    def blame(self, host: ObservedHostRecord, figure: HostFigure) -> Breach:
        """That of whose processes are in the cgroup."""
        processes = figure.names["process"].split()
        return "fail" if generator_programs().isdisjoint(processes) else "invalid"


CRITERION = Throttled
