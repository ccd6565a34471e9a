"""Whether trials at the same load repeat."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Annotated

from pydantic import Field

from plimsoll.record.trials.finding_record import FindingOutcome
from plimsoll.text.units import RatioField, format_ratio
from plimsoll.trial.criteria.criterion import Criterion
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome


class Spread(Criterion):
    """At most this spread, (max - min) ÷ mean, of `repetitions` trials at the same load.

    Each repetition is compared with those before it, and the rule is broken as soon as
    they differ by more. Fewer than `repetitions` prove nothing: they are `ok`, without a
    value when there is only one, where the load is tested again before it counts
    (`Outcome.comes_again`), and `invalid` where this trial was the last.
    """

    at_most: RatioField
    repetitions: Annotated[int, Field(ge=2, le=1000)] = 3

    def _compare(
        self, rule: str, subject: str, values: Sequence[float], outcome: Outcome
    ) -> Finding:
        """Of the values so far, from 0 up, this trial's the last."""
        if not any(values):
            return self._finding(rule, subject, values, "invalid")
        if self._differ(values):
            return self._finding(rule, subject, values, "fail")
        proven = len(values) >= self.repetitions or outcome.comes_again
        return self._finding(rule, subject, values, "ok" if proven else "invalid")

    def _differ(self, values: Sequence[float]) -> bool:
        """By more than is allowed."""
        spread = relative_spread(values)
        return spread is not None and spread > self.at_most

    def _finding(
        self,
        rule: str,
        subject: str,
        values: Sequence[float],
        outcome: FindingOutcome,
        more: str = "",
    ) -> Finding:
        spread = relative_spread(values)
        found = "nothing to compare with" if spread is None else f"spread {format_ratio(spread)}"
        text = (
            f"{subject}: {found} after {len(values)} of {self.repetitions} repetitions{more}; "
            f"at most {format_ratio(self.at_most)} allowed"
        )
        return Finding(rule, subject, spread, self.at_most, "ratio", outcome, text)


def relative_spread(values: Sequence[float]) -> float | None:
    """(max - min) ÷ mean of values from 0 up; None for fewer than two, and for zeros alone."""
    if len(values) < 2 or not any(values):
        return None
    return (max(values) - min(values)) / fmean(values)
