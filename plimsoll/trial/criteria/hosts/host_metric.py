"""A bound on any metric of the hosts."""

from __future__ import annotations

from typing import Annotated, Literal, Self, cast

from pydantic import Field, model_validator

from plimsoll.record.metrics.over_time import Reduction, own_reduction
from plimsoll.record.run.environment import ObservedHostRecord
from plimsoll.record.samples.metric_type import MetricType
from plimsoll.text.mistakes import did_you_mean, mistake
from plimsoll.trial.criteria.hosts.host_bound import Breach, HostBound, Statistic
from plimsoll.trial.criteria.hosts.host_criterion import HostCriterion, NameValues
from plimsoll.trial.outcome.host_metrics import CpuRole, HostFigure, HostQuestion, observed_types

_Names = dict[str, Annotated[NameValues, Field(min_length=1)]]
_DRAWN = {"mean": "on average", "max": "at its peak", "min": "at its lowest", "total": "in all"}
_Bound = Annotated[float, Field(allow_inf_nan=False)]


class HostMetric(HostCriterion):
    """A metric of each host, drawn together from its series as the metric's kind asks for.

    `where` keeps to series with these values of a name, `without` leaves such out. With `cpus`
    each CPU of that role is judged by itself. The value is the mean over time, the highest or
    the lowest reading (max, min), or for what is counted the number (total); by default what the
    metric itself is over time, which for a maximum is the maximum.
    """

    kind: Literal["host-metric"] = "host-metric"
    source: str
    type: str
    where: _Names = Field(default_factory=dict, max_length=16)
    without: _Names = Field(default_factory=dict, max_length=16)
    cpus: CpuRole | None = None
    statistic: Statistic | None = None
    at_most: _Bound | None = None
    at_least: _Bound | None = None

    @model_validator(mode="after")
    def _is_a_metric_with_one_bound(self) -> Self:
        if (self.at_most is None) == (self.at_least is None):
            bounds = "no bound" if self.at_most is None else "two bounds"
            raise mistake(f"a host-metric criterion with {bounds}", "give at_most or at_least")
        metric = self._metric()
        # A total is a number of what was counted, which is not what a scaled rate is of.
        if self.statistic == "total" and (not metric.counted or metric.scale != 1):
            problem = f"{self.type} is not a count, so it has no total"
            raise mistake(problem, "give statistic: mean, max or min", "statistic")
        if self.statistic in (None, "mean") and self._own_reduction() == "quantile":
            problem = "a quantile of the whole time cannot be had from those of its readings"
            raise mistake(problem, "give statistic: max, the worst reading", "statistic")
        return self

    @property
    def bound(self) -> HostBound:
        """As it is written."""
        statistic = self._statistic()
        (limit,) = (each for each in (self.at_most, self.at_least) if each is not None)
        return HostBound(
            # There may be several of them.
            f"{self.kind}-{self.type}",
            HostQuestion(
                self.source,
                self.type,
                where=tuple(self.where.items()),
                without=tuple(self.without.items()),
                cpus=self.cpus,
            ),
            limit=limit,
            unit=self._unit(),
            words=f"{self.source} {self.type}: {_DRAWN[statistic]} {{}}",
            statistic=statistic,
            least=self.at_most is None,
        )

    def blame(self, host: ObservedHostRecord, figure: HostFigure) -> Breach:
        """The DUT's, for want of knowing what it means."""
        return "fail"

    def _statistic(self) -> Statistic:
        """As given, or as the metric is over time."""
        if self.statistic is not None:
            return self.statistic
        # Of a quantile one has to be given.
        return cast(Statistic, self._own_reduction())

    def _own_reduction(self) -> Reduction:
        metric = self._metric()
        return own_reduction(metric.type, metric.aggregation, counted=metric.counted)

    def _unit(self) -> str:
        unit = self._metric().unit
        if unit == "1/s":
            unit = "/s"
        return unit.removesuffix("/s") if self.statistic == "total" else unit

    def _metric(self) -> MetricType:
        """Raises what pydantic gives a place where no observer tells of it."""
        types = observed_types()
        found = types.get((self.source, self.type))
        if found is not None:
            return found
        sources = {source for source, _ in types}
        if self.source not in sources:
            raise mistake(
                f"no source {self.source!r}", did_you_mean(self.source, sources), "source"
            )
        known = {metric for source, metric in types if source == self.source}
        problem = f"{self.source} has no type {self.type!r}"
        raise mistake(problem, did_you_mean(self.type, known), "type")


CRITERION = HostMetric
