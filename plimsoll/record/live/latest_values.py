"""Where each series of a growing metrics file stands (metric_log.py has its lines)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from plimsoll.record.metrics.over_time import Reduction, own_reduction

_NS_PER_S = 1e9


@dataclass(frozen=True, slots=True)
class LatestValue:
    """A series and its value over the last time range written.

    `reduction` is what the type is over a longer time, which this value is not.
    """

    source: str
    type: str
    unit: str
    names: Mapping[str, str]
    value: float
    reduction: Reduction


@dataclass(frozen=True, slots=True)
class LiveInterval:
    """What one reader found in [begin_ns, end_ns) since the epoch, in one period."""

    period: str
    begin_ns: int
    end_ns: int
    values: tuple[LatestValue, ...]


# A series: its source, its type, and its names with their values, in order.
SeriesKey = tuple[str, str, tuple[tuple[str, str], ...]]


@dataclass(slots=True)
class _Series:
    kind: Mapping[str, Any]
    names: Mapping[str, str]
    value: float | None = None
    # What was counted since `counted` was last called, in the type's own measure.
    counted: float = 0.0


class LatestValues:
    """Takes the lines of one file, in order; a torn or unknown line is left out.

    Each interval is given to `listener`, where there is one, as it is taken.
    """

    def __init__(self, listener: Callable[[LiveInterval], None] | None = None) -> None:
        self._listener = listener
        self._period = ""
        self._names: Mapping[str, str] = {}
        self._kinds: dict[int, Mapping[str, Any]] = {}
        self._series: dict[int, _Series] = {}

    def take(self, lines: Iterable[str]) -> None:
        """Go on to where these lines lead."""
        for line in lines:
            try:
                fields = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if "period" in fields:
                self._period = str(fields["period"])
                self._names = fields.get("names") or {}
            elif "series" in fields:
                self._declare(fields)
            elif "numbers" in fields:
                self._tick(fields)

    def values(self) -> list[LatestValue]:
        """Every series that is present."""
        return list(self._present(self._series.values()))

    def counted(self) -> dict[SeriesKey, float]:
        """What every counted series has counted since the last call."""
        found: dict[SeriesKey, float] = {}
        for each in self._series.values():
            if each.kind["counted"] and each.value is not None:
                names = tuple(sorted({**self._names, **each.names}.items()))
                found[each.kind["source"], each.kind["type"], names] = each.counted
                each.counted = 0.0
        return found

    def _present(self, series: Iterable[_Series]) -> Iterator[LatestValue]:
        for each in series:
            if each.value is not None:
                yield LatestValue(
                    source=each.kind["source"],
                    type=each.kind["type"],
                    unit=each.kind["unit"],
                    names={**self._names, **each.names},
                    value=each.value,
                    reduction=own_reduction(
                        each.kind["type"], each.kind["aggregation"], counted=each.kind["counted"]
                    ),
                )

    def _declare(self, fields: Mapping[str, Any]) -> None:
        self._kinds.update({kind["kind"]: kind for kind in fields.get("types", ())})
        for declared in fields["series"]:
            kind = self._kinds[declared["kind"]]
            # A counter that has been read and not mentioned since stands still.
            still = kind["carried"] and kind["counted"] and declared["since_ns"] is not None
            self._series[declared["number"]] = _Series(
                kind, declared["names"], 0.0 if still else None
            )

    def _tick(self, fields: Mapping[str, Any]) -> None:
        length_s = (fields["end_ns"] - fields["begin_ns"]) / _NS_PER_S
        ticked = dict(zip(fields["numbers"], fields["values"], strict=True))
        for number, series in self._series.items():
            if series.kind["reader"] != fields["reader"]:
                continue
            if number in ticked:
                series.value = _per_second(series.kind, ticked[number], length_s)
                if series.kind["counted"]:
                    series.counted += (ticked[number] or 0) * float(series.kind["scale"])
            elif not series.kind["carried"]:
                series.value = None
            elif series.kind["counted"] and series.value is not None:
                series.value = 0.0
        if self._listener is not None:
            of_reader = (s for s in self._series.values() if s.kind["reader"] == fields["reader"])
            values = tuple(self._present(of_reader))
            self._listener(LiveInterval(self._period, fields["begin_ns"], fields["end_ns"], values))


def _per_second(kind: Mapping[str, Any], value: float | None, length_s: float) -> float | None:
    if value is None or not kind["counted"]:
        return value
    return value * float(kind["scale"]) / length_s if length_s > 0 else None
