"""What a list of checkpoints showed, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ..strategy.ask import LimitedBy
from ..strategy.question import Answer
from ..text.units import format_pps

_UNTESTABLE: Answer = "untestable"


@dataclass(frozen=True, slots=True)
class Curve:
    """The loads, ascending, the answers of those measured, and the validations that failed."""

    loads_pps: tuple[float, ...]
    answers: dict[float, Answer] = field(default_factory=dict)
    disproved: tuple[float, ...] = ()

    def measured(self, load_pps: float, answer: Answer) -> Curve:
        """With the answer of one more."""
        return replace(self, answers={**self.answers, load_pps: answer})

    def above_is_untestable(self, reach_pps: float) -> Curve:
        """With what the tester cannot offer, whatever was found there before."""
        above = {load: _UNTESTABLE for load in self.loads_pps if load > reach_pps}
        return replace(self, answers={**self.answers, **above})

    def without(self, load_pps: float) -> Curve:
        """After a failed validation."""
        return replace(self, disproved=(*self.disproved, load_pps))

    @property
    def ahead_pps(self) -> float | None:
        """The lowest load that is still to be measured."""
        return next((load for load in self.loads_pps if load not in self.answers), None)

    @property
    def best_pps(self) -> float | None:
        """The highest load below the first that did not pass, of those not disproved."""
        first = self._first_not_passed()
        below = [load for load in self.loads_pps if first is None or load < first]
        return max((load for load in below if load not in self.disproved), default=None)

    @property
    def limited_by(self) -> LimitedBy:
        """What kept the best from being higher."""
        first = self._first_not_passed()
        if first is None and not self.disproved:
            return "maximum"
        return "dut" if self.disproved or self._did(first, "fail") else "tester"

    @property
    def why_nothing(self) -> str:
        """Why there is no best, in a sentence."""
        if self.disproved:
            return "no load passed both its checkpoint and validation"
        lowest = self.loads_pps[0]
        outcome = "failed" if self._did(lowest, "fail") else "could not be tested"
        return f"the lowest checkpoint, {format_pps(lowest)}, {outcome}"

    @property
    def irregularity(self) -> str | None:
        """A load that failed beneath others that passed, in a sentence; None where none did."""
        lowest_failed = next((load for load in self.loads_pps if self._did(load, "fail")), None)
        if lowest_failed is None:
            return None
        above = [load for load in self.loads_pps if load > lowest_failed]
        passed = [load for load in above if self._did(load, "pass")]
        if not passed:
            return None
        return f"{format_pps(lowest_failed)} failed, though {_listed(passed)} passed"

    def _first_not_passed(self) -> float | None:
        return next((load for load in self.loads_pps if not self._did(load, "pass")), None)

    def _did(self, load_pps: float | None, answer: Answer) -> bool:
        return load_pps is not None and self.answers.get(load_pps) == answer


def _listed(loads_pps: Iterable[float]) -> str:
    return ", ".join(format_pps(load) for load in loads_pps)
