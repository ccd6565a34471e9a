"""Rules about the hosts that a trial ran on."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated

from pydantic import BeforeValidator, Field

from plimsoll.record.run.environment import ObservedHostRecord
from plimsoll.trial.criteria.criterion import Criterion
from plimsoll.trial.criteria.hosts.host_bound import Breach, HostBound
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.host_metrics import HostFigure
from plimsoll.trial.outcome.outcome import Outcome


class HostCriterion(Criterion):
    """A bound on one metric of each host that it is about, while frames were sent.

    Broken, it fails the trial or, with `on_breach: invalid`, makes it invalid whatever else
    was found. Without `on_breach` it depends on whose fault it is (`blame`).
    """

    on_breach: Breach | None = None

    @property
    @abstractmethod
    def bound(self) -> HostBound:
        """What the hosts are held to."""

    @abstractmethod
    def blame(self, host: ObservedHostRecord, figure: HostFigure) -> Breach:
        """What a broken bound makes of the trial: "fail" where the DUT is at fault alone."""

    def evaluate(self, outcome: Outcome) -> list[Finding]:
        """One finding per host; invalid where its figures were not observed."""
        return self.bound.findings(outcome.host, self._breach)

    def _breach(self, host: ObservedHostRecord, figure: HostFigure) -> Breach:
        return self.on_breach or self.blame(host, figure)


def blame_of_host(host: ObservedHostRecord) -> Breach:
    """For what cannot be attributed to a process: on the tester's own host it is its fault."""
    return "invalid" if host.polled.get("tester") else "fail"


# Values of a name of series, as people write them in a criterion.
def _as_texts(given: object) -> object:
    """A single value needs no list, and what YAML takes for a number is a name as well."""
    values = given if isinstance(given, list | tuple) else [given]
    return [str(each) if isinstance(each, int) else each for each in values]


NameValues = Annotated[
    tuple[Annotated[str, Field(max_length=256)], ...],
    BeforeValidator(_as_texts),
    Field(max_length=64),
]
