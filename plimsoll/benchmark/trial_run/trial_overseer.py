"""What observes a trial while it runs, other than what records it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from plimsoll.dut.lab import LabPorts
from plimsoll.generator.interface import Interval, TrialPlan
from plimsoll.trial.outcome.baseline import Baseline
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome


@dataclass(frozen=True, slots=True)
class StartingTrial:
    """What is known of trial `number` before its first frame.

    Without a `baseline` none was measured.
    """

    number: int
    plan: TrialPlan
    ports: LabPorts
    baseline: Baseline | None


class TrialOverseer(Protocol):
    """Of one trial: called at its start, at each interval, and with its outcome."""

    def begin(self, start: StartingTrial) -> None:
        """The trial is about to start."""

    def interval(self, interval: Interval) -> bool:
        """An interval of it ended; True to stop the trial."""

    def ended(self, outcome: Outcome) -> tuple[Outcome, list[Finding]]:
        """The outcome to judge it by, and findings of the overseer's own."""


class NoOverseer:
    """The TrialOverseer of a trial without one."""

    def begin(self, start: StartingTrial) -> None:
        """Nothing begins."""

    def interval(self, interval: Interval) -> bool:
        """It is not stopped."""
        return False

    def ended(self, outcome: Outcome) -> tuple[Outcome, list[Finding]]:
        """The outcome as it is."""
        return outcome, []
