"""How finely a trial is kept: every interval of its first minutes, then steps of a minute."""

from __future__ import annotations

from plimsoll.generator.interface import Interval

# So long every interval is kept as it is: searches and standard tests have no longer trials.
FINE_S = 600.0
STEP_S = 60.0


class TimeSteps:
    """Says of each interval of a run's trials where its step ends."""

    def __init__(self) -> None:
        self._begin_s: float | None = None

    def coarse(self, interval: Interval) -> bool:
        """Whether it is part of a step, and not kept for itself."""
        return interval.begin_s >= FINE_S

    def begins_anew(self, interval: Interval) -> bool:
        """Whether it belongs to another trial than the step that is open."""
        return self._begin_s is not None and interval.begin_s < self._begin_s

    def ends_with(self, interval: Interval) -> bool:
        """Take a coarse interval into the step; True where the step is then complete."""
        if self._begin_s is None:
            self._begin_s = interval.begin_s
        # Half an interval early: intervals are as long as a timer makes them.
        half_s = (interval.end_s - interval.begin_s) / 2
        if interval.end_s < self._begin_s + STEP_S - half_s:
            return False
        self.end()
        return True

    def end(self) -> None:
        """No step is open any more."""
        self._begin_s = None
