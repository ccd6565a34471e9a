"""What an observer tells at each of its readings, and what that comes to for the record."""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.record.metrics.metric_log import MetricLog
from plimsoll.record.samples.metric_type import MetricType


class Readings:
    """The series that one observer tells in one period.

    The first reading only says where totals stand; from the second on, each comes to a
    tick. What an observer does not mention has not changed.
    """

    def __init__(self, reader: str, log: MetricLog) -> None:
        """`reader` is the observer's name."""
        self._reader = reader
        self._log = log
        # Where the totals and values of series stand, by number.
        self._totals: dict[int, int] = {}
        self._values: dict[int, float] = {}
        # Totals that began anew: their next count is written even if it is zero. Those that had
        # done so before this reading stand at zero even if they are not mentioned.
        self._resumed: set[int] = set()
        self._resumed_before: set[int] = set()
        self._changed: dict[int, float | None] = {}
        self._begin_ns: int | None = None
        self.now_ns = 0

    def series(
        self, metric: MetricType, names: Mapping[str, str], since_ns: int | None = None
    ) -> int:
        """The number of a series, to be kept by the observer that reads it.

        It began at this reading, or at `since_ns`: a counter that stood at zero need not be
        declared before it counts. `names` are its own; all have those of the host as well.
        """
        since_ns = self.now_ns if since_ns is None else since_ns
        return self._log.series(metric, names, since_ns, self._reader)

    def total(self, series: int, total: int) -> None:
        """Where a counter stands. Its `metric` is counted and carried.

        One that has gone back was reset, or wrapped: what it counted
        in between is not known, and the series is absent for that long.
        """
        before = self._totals.get(series)
        self._totals[series] = total
        if before is None:
            return
        counted = total - before
        if counted < 0:
            self._changed[series] = None
            self._resumed.add(series)
        elif counted or series in self._resumed:
            self._changed[series] = counted
            self._resumed.discard(series)

    def value(self, series: int, value: float) -> None:
        """What was measured since the last reading, or found at this. Not of a counted metric."""
        if self._begin_ns is not None and self._values.get(series) != value:
            self._values[series] = value
            self._changed[series] = value

    def absent(self, series: int) -> None:
        """It is not there any more, or not for now."""
        if self._totals.pop(series, None) is not None:
            self._resumed.add(series)
            self._changed[series] = None
        if self._values.pop(series, None) is not None:
            self._changed[series] = None

    def begin(self, now_ns: int) -> None:
        """A reading begins now, in ns since the epoch."""
        self._changed = {}
        self.now_ns = now_ns

    def lines(self) -> list[str]:
        """What this reading comes to, for the metrics file; nothing for the first."""
        begin_ns, self._begin_ns = self._begin_ns, self.now_ns
        if begin_ns is None:
            return []
        changed = dict.fromkeys(self._resumed & self._resumed_before, 0.0) | self._changed
        self._resumed -= changed.keys() - self._changed.keys()
        self._resumed_before = self._resumed & self._totals.keys()
        return self._log.tick(
            self._reader, begin_ns, self.now_ns, list(changed), list(changed.values())
        )

    @property
    def since_s(self) -> float | None:
        """The time since the last reading in s; None at the first."""
        return None if self._begin_ns is None else (self.now_ns - self._begin_ns) / 1e9
