"""Places the periods of a run in time so that no two trials lie over each other.

CDM's queries know no trial: they take whatever a run has in the time of a period. Where the
wall clock was set back between trials, or before a run was resumed, their times overlap, and
each would be given the other's values. Such a trial is moved behind those before it.
"""

from __future__ import annotations

from collections.abc import Collection

from plimsoll.export.metric_batches import RecordedPeriod
from plimsoll.record.metrics.metrics import trial_number


class Timeline:
    """The times that trials of a run, or of all runs of a matrix, have taken so far."""

    def __init__(self) -> None:
        self._taken: list[tuple[int, int]] = []

    def moves(self, periods: Collection[RecordedPeriod]) -> dict[str, int]:
        """By how many ms each of these periods of one run directory is to be moved, by name.

        They are those with all their rows, the drain's and the hosts' as well. Trials are
        taken in the order in which they were begun; other periods stay where they are.
        """
        trials = [(number, p) for p in periods if (number := trial_number(p.name)) is not None]
        ordered = [period for _, period in sorted(trials, key=lambda trial: trial[0])]
        return {period.name: self._place(period) for period in ordered}

    def _place(self, period: RecordedPeriod) -> int:
        begin_ms, end_ms = period.begin_ms, period.end_ms
        free = all(end_ms <= taken[0] or taken[1] <= begin_ms for taken in self._taken)
        moved_ms = 0 if free else max(taken[1] for taken in self._taken) - begin_ms
        self._taken.append((begin_ms + moved_ms, end_ms + moved_ms))
        return moved_ms
