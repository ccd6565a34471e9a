"""What a user interface sees of a run while it goes on."""

from __future__ import annotations

from typing import Protocol

from plimsoll.generator.interface import Interval, TrialPlan
from plimsoll.record.trials.trial_parts import TrialPhase
from plimsoll.record.trials.trial_record import TrialRecord


class ProgressListener(Protocol):
    """Called from the run's own thread; must return quickly."""

    def note(self, text: str) -> None:
        """Something the user should know."""

    def trial_started(self, number: int, phase: TrialPhase, plan: TrialPlan) -> None:
        """A trial begins."""

    def interval(self, interval: Interval) -> None:
        """An interval of it ended."""

    def trial_ended(self, record: TrialRecord) -> None:
        """It was judged and is on disk."""
