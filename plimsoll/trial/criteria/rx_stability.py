"""How steadily frames come back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, Protocol, Self

from pydantic import model_validator

from plimsoll.record.trials.finding_record import FindingOutcome
from plimsoll.text.mistakes import mistake
from plimsoll.text.units import DurationField, RatioField, format_duration, format_ratio
from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.criteria.criterion import Criterion
from plimsoll.trial.outcome.due_frames import due_frames
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome
from plimsoll.trial.outcome.steadiness import (
    A_SECOND,
    RxSecond,
    deviation,
    rx_seconds,
    worst_window,
)

# A standard deviation of fewer is meaningless.
_MIN_SECONDS = 3
# A window that is all of the trial, or most of it, cannot stray from the mean.
_MIN_WINDOWS = 2


class RxStability(Criterion):
    """The rate at which frames come back stays the same, in each direction.

    `deviation` bounds the relative standard deviation of the rate of whole seconds,
    `worst_window` how far the mean over any `window` may stray from that over all, up or
    down, relative to it. The rate is that which came of what was offered in the same
    second, so that a second in which the tester sent less is not held against the DUT.
    Only streams of a steady rate are judged.
    """

    kind: Literal["rx-stability"] = "rx-stability"
    deviation: RatioField | None = None
    worst_window: RatioField | None = None
    window: DurationField = 10.0

    @model_validator(mode="after")
    def _some_bound(self) -> Self:
        if self.deviation is None and self.worst_window is None:
            raise mistake(
                "rx-stability without a bound", "give deviation, worst_window or both, as in 1%"
            )
        return self

    def evaluate(self, outcome: Outcome) -> list[Finding]:
        """For each bound one finding per direction.

        Invalid with too few seconds, and where the tester's stalls explain what broke it.
        """
        directions: dict[str, list[int]] = {}
        for plan in outcome.judged:
            if _is_steady(plan, outcome):
                directions.setdefault(f"{plan.tx_port}-{plan.rx_port}", []).append(plan.stream)
        if not directions:
            return [self._nothing_steady()]
        return [
            finding
            for direction, streams in directions.items()
            for finding in self._judge(direction, rx_seconds(outcome, streams))
        ]

    def _nothing_steady(self) -> Finding:
        text = "there is no stream of a steady rate to judge"
        return Finding(self.kind, "trial", None, None, "ratio", "invalid", text)

    def _judge(self, direction: str, seconds: Sequence[RxSecond]) -> list[Finding]:
        findings = []
        if self.deviation is not None:
            findings.append(self._judge_deviation(direction, seconds, self.deviation))
        if self.worst_window is not None:
            findings.append(self._judge_window(direction, seconds, self.worst_window))
        return findings

    def _judge_deviation(
        self, direction: str, seconds: Sequence[RxSecond], limit: float
    ) -> Finding:
        what = f"standard deviation of the rx rate of {len(seconds):,} whole seconds"
        bound = _Bound(f"{self.kind}-deviation", direction, limit, what)
        if len(seconds) < _MIN_SECONDS:
            return bound.finding(None, "invalid", f", of which {_MIN_SECONDS} are needed")
        return bound.judge(seconds, deviation)

    def _judge_window(self, direction: str, seconds: Sequence[RxSecond], limit: float) -> Finding:
        length_s, needed_s = sum(each.length_s for each in seconds), _MIN_WINDOWS * self.window
        what = f"worst {format_duration(self.window)} of the rx rate of {length_s:.4g} s"
        bound = _Bound(f"{self.kind}-window", direction, limit, what)
        # As much shorter as their seconds may be.
        if length_s < needed_s * A_SECOND:
            return bound.finding(None, "invalid", f", of which {needed_s:.4g} s are needed")
        return bound.judge(seconds, partial(worst_window, window_s=self.window))


def _is_steady(plan: StreamPlan, outcome: Outcome) -> bool:
    paced = due_frames(plan, outcome.plan.duration_s) is not None
    return paced and plan.steady


class _Measure(Protocol):
    """How unsteady seconds are: as they are or, discounted, at the least that stalls allow."""

    def __call__(self, seconds: Sequence[RxSecond], *, discounted: bool) -> float: ...


@dataclass(frozen=True, slots=True)
class _Bound:
    """One bound on one direction; `what` says what it is held to."""

    rule: str
    direction: str
    limit: float
    what: str

    def judge(self, seconds: Sequence[RxSecond], measure: _Measure) -> Finding:
        if not all(each.offered for each in seconds):
            return self.finding(None, "invalid", ", in one of which nothing was offered")
        if not any(each.came for each in seconds):
            return self.finding(None, "invalid", ", in which nothing came back")
        value = measure(seconds, discounted=False)
        if value <= self.limit:
            return self.finding(value, "ok")
        if measure(seconds, discounted=True) <= self.limit:
            return self.finding(value, "invalid", ", no more than the tester's stalls explain")
        return self.finding(value, "fail")

    def finding(self, value: float | None, outcome: FindingOutcome, more: str = "") -> Finding:
        found = "" if value is None else f" {format_ratio(value)},"
        text = (
            f"{self.direction}:{found} {self.what}{more}; "
            f"at most {format_ratio(self.limit)} allowed"
        )
        return Finding(self.rule, self.direction, value, self.limit, "ratio", outcome, text)


CRITERION = RxStability
