"""How many latency samples of a stream came after a bound, while a trial runs."""

from __future__ import annotations

from plimsoll.generator.histogram import Histogram
from plimsoll.trial.criteria.criterion import SampleBudget


class TooLate:
    """Counts the samples above a budget's limit, interval by interval."""

    def __init__(self, budget: SampleBudget) -> None:
        self.stream = budget.stream
        self._budget = budget
        self._samples = 0
        self._above = 0

    def add(self, latency: Histogram) -> bool:
        """Account for the next interval; True once there are too many."""
        self._samples += latency.count
        self._above += latency.above(self._budget.limit_ns)
        enough = self._samples >= self._budget.needed
        return enough and self._above > self._budget.samples
