"""All observers of a host over one period."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.host.wall_clock import wall_minus_monotonic_ns
from plimsoll.observe.reading.observer import NotObservable, ObservedHost, Observer
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.metrics.metric_log import MetricLog


@dataclass(frozen=True, slots=True)
class _Reader:
    observer: Observer
    readings: Readings


class Sampler:
    """Reads all observers one after the other, each with its own time."""

    def __init__(
        self, host: ObservedHost, observers: Sequence[type[Observer]], hostname: str, period: str
    ) -> None:
        """Find what is to be read, and read where it all stands."""
        # The period's wall clock goes on with the monotonic one, whatever is done to the host's.
        self._wall_minus_monotonic_ns = wall_minus_monotonic_ns()
        names = {"hostname": hostname, "cstype": "profiler"}
        self._log = MetricLog(period, self._wall_minus_monotonic_ns, names)
        # By the observer's name.
        self._readers: dict[str, _Reader] = {}
        # Of each observer that does not read: why.
        self.missing: dict[str, str] = {}
        for observer in observers:
            self._begin(observer, host)

    @property
    def sources(self) -> tuple[str, ...]:
        """What is read."""
        return tuple(dict.fromkeys(each.observer.source for each in self._readers.values()))

    def tick(self) -> list[str]:
        """Read everything once: the lines for the metrics file."""
        return [line for name in tuple(self._readers) for line in self._read(name)]

    def _begin(self, observer: type[Observer], host: ObservedHost) -> None:
        name = observer.name()
        readings = Readings(name, self._log)
        readings.begin(self._now_ns())
        try:
            self._readers[name] = _Reader(observer(host, readings), readings)
        except (NotObservable, OSError, ValueError) as error:
            self.missing[name] = str(error)
            return
        self._read(name)

    def _read(self, name: str) -> list[str]:
        reader = self._readers[name]
        reader.readings.begin(self._now_ns())
        try:
            reader.observer.read(reader.readings)
        except (OSError, ValueError) as error:
            # The others go on; the record says which was lost, and its series end here.
            self.missing[name] = f"{type(error).__name__}: {error}"
            del self._readers[name]
            return []
        return reader.readings.lines()

    def _now_ns(self) -> int:
        return time.monotonic_ns() + self._wall_minus_monotonic_ns
