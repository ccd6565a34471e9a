"""Who looks at a trial while it goes on, beside the one that records it."""

from __future__ import annotations

from typing import Protocol

from plimsoll.dut.lab import LabPorts
from plimsoll.generator.interface import Interval, TrialPlan
from plimsoll.trial.outcome.baseline import Baseline
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome


class TrialOverseer(Protocol):
    """Of one trial: told of its beginning, of each interval, and of what came of it."""

    def begin(
        self,
        number: int,
        plan: TrialPlan,
        load_pps: float,
        ports: LabPorts,
        baseline: Baseline | None,
    ) -> None:
        """Trial `number` is about to start."""

    def interval(self, interval: Interval) -> bool:
        """An interval of it ended; True to stop the trial."""

    def ended(self, outcome: Outcome) -> tuple[Outcome, list[Finding]]:
        """The outcome to judge it by, and findings of the overseer's own."""


class Nobody:
    """The TrialOverseer of a trial that nobody oversees."""

    def begin(
        self,
        number: int,
        plan: TrialPlan,
        load_pps: float,
        ports: LabPorts,
        baseline: Baseline | None,
    ) -> None:
        """Nothing begins."""

    def interval(self, interval: Interval) -> bool:
        """It is not stopped."""
        return False

    def ended(self, outcome: Outcome) -> tuple[Outcome, list[Finding]]:
        """The outcome as it is."""
        return outcome, []
