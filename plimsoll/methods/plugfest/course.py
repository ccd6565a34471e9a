"""Which repetitions of a plugfest are run: none too many, and not beyond its time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median

from plimsoll.errors import PlimsollError
from plimsoll.methods.matrix.combinations import Sample
from plimsoll.methods.matrix.result import SampleResult
from plimsoll.methods.plugfest.median_interval import is_settled
from plimsoll.methods.plugfest.plan import refusal_text

# How the reasons begin by which a cell is known to be settled, or refused.
SETTLED, REFUSED = "settled", "refused: "
# An error that came twice will come again.
_MOST_ERRORS = 2


@dataclass
class PlugfestCourse:
    """Called before each repetition, in the order drawn.

    A cell that is refused is not tried, one that has ended with an error twice not again, and
    one whose median is known to `settled` not further. Every cell is run once, whatever that
    takes; a further repetition only where it will probably end within `budget_s`, of which
    `spent_s` went in earlier sessions, in which each cell took `took_s`, by iteration.
    """

    refused: Mapping[int, PlimsollError]
    settled: float
    budget_s: float | None
    spent_s: float = 0.0
    took_s: dict[int, list[float]] = field(default_factory=dict)
    clock: Callable[[], float] = time.monotonic
    _began_s: float = field(init=False)

    def __post_init__(self) -> None:
        self._began_s = self.clock()

    @property
    def left_s(self) -> float | None:
        """Of the budget; None without one."""
        if self.budget_s is None:
            return None
        return self.budget_s - self.spent_s - (self.clock() - self._began_s)

    def reason_to_skip(self, sample: Sample, results: Mapping[Sample, SampleResult]) -> str | None:
        """In words that stand in the result."""
        if (error := self.refused.get(sample.iteration)) is not None:
            return f"{REFUSED}{refusal_text(error)}"
        own = [each for key, each in results.items() if key.iteration == sample.iteration]
        errors = [each.error for each in own if each.error is not None]
        if len(errors) >= _MOST_ERRORS:
            return f"it ended with an error twice: {errors[-1]}"
        lines = [each.load_line_pps for each in own if each.load_line_pps is not None]
        if is_settled(lines, self.settled):
            return f"{SETTLED}: its median is known to {self.settled:.3g} of itself"
        if sample.number > 1 and not self._in_time(sample.iteration):
            return "out of time: it would probably have ended after the budget"
        return None

    def ended(self, sample: Sample, seconds: float) -> None:
        """What a repetition of it takes."""
        self.took_s.setdefault(sample.iteration, []).append(seconds)

    def _in_time(self, iteration: int) -> bool:
        left_s = self.left_s
        return left_s is None or self._expected_s(iteration) <= left_s

    def _expected_s(self, iteration: int) -> float:
        """The longest of its own so far, else the median of the others."""
        if own := self.took_s.get(iteration):
            return max(own)
        others = [seconds for each in self.took_s.values() for seconds in each]
        return median(others) if others else 0.0
