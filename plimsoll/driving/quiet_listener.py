"""What a caller in Python sees of a run: its notes, if at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from plimsoll.generator.interface import Interval, TrialPlan
from plimsoll.record.trials.trial_parts import TrialPhase
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.text.units import format_pps


@dataclass(frozen=True)
class QuietListener:
    """A ProgressListener that tells notes and verdicts."""

    tell: Callable[[str], None]

    def note(self, text: str) -> None:
        """As it is."""
        self.tell(text)

    def trial_started(self, number: int, phase: TrialPhase, plan: TrialPlan) -> None:
        """Nothing: it will end."""

    def interval(self, interval: Interval) -> None:
        """Nothing."""

    def trial_ended(self, record: TrialRecord) -> None:
        """In a line."""
        load = format_pps(record.load_pps)
        self.tell(f"trial {record.number} ({record.phase}) at {load}: {record.verdict}")
