"""Where each series of a growing metrics file stands (metric_log.py has its lines)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from plimsoll.record.metrics.over_time import Reduction, own_reduction

_NS_PER_S = 1e9


@dataclass(frozen=True, slots=True)
class LatestValue:
    """A series and its value over the last time range that was told.

    `reduction` is what the type is over a longer time, which this value is not.
    """

    source: str
    type: str
    unit: str
    names: Mapping[str, str]
    value: float
    reduction: Reduction


# A series: its source, its type, and its names with their values, in order.
SeriesKey = tuple[str, str, tuple[tuple[str, str], ...]]


@dataclass(slots=True)
class _Series:
    kind: Mapping[str, Any]
    names: Mapping[str, str]
    value: float | None = None
    # What was counted since `counted` was asked last, in the type's own measure.
    counted: float = 0.0


class LatestValues:
    """Takes the lines of one file, in order; a torn or unknown line is left out."""

    def __init__(self) -> None:
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
                self._names = fields.get("names") or {}
            elif "series" in fields:
                self._declare(fields)
            elif "numbers" in fields:
                self._tick(fields)

    def values(self) -> list[LatestValue]:
        """Every series that is present."""
        return [
            LatestValue(
                source=each.kind["source"],
                type=each.kind["type"],
                unit=each.kind["unit"],
                names={**self._names, **each.names},
                value=each.value,
                reduction=own_reduction(
                    each.kind["type"], each.kind["aggregation"], counted=each.kind["counted"]
                ),
            )
            for each in self._series.values()
            if each.value is not None
        ]

    def counted(self) -> dict[SeriesKey, float]:
        """What every counted series has counted since this was last asked."""
        found: dict[SeriesKey, float] = {}
        for each in self._series.values():
            if each.kind["counted"] and each.value is not None:
                names = tuple(sorted({**self._names, **each.names}.items()))
                found[each.kind["source"], each.kind["type"], names] = each.counted
                each.counted = 0.0
        return found

    def _declare(self, fields: Mapping[str, Any]) -> None:
        self._kinds.update({kind["kind"]: kind for kind in fields.get("types", ())})
        for told in fields["series"]:
            kind = self._kinds[told["kind"]]
            # A counter that has been read and not mentioned since stands still.
            still = kind["carried"] and kind["counted"] and told["since_ns"] is not None
            self._series[told["number"]] = _Series(kind, told["names"], 0.0 if still else None)

    def _tick(self, fields: Mapping[str, Any]) -> None:
        length_s = (fields["end_ns"] - fields["begin_ns"]) / _NS_PER_S
        told = dict(zip(fields["numbers"], fields["values"], strict=True))
        for number, series in self._series.items():
            if series.kind["reader"] != fields["reader"]:
                continue
            if number in told:
                series.value = _per_second(series.kind, told[number], length_s)
                if series.kind["counted"]:
                    series.counted += (told[number] or 0) * float(series.kind["scale"])
            elif not series.kind["carried"]:
                series.value = None
            elif series.kind["counted"] and series.value is not None:
                series.value = 0.0


def _per_second(kind: Mapping[str, Any], value: float | None, length_s: float) -> float | None:
    if value is None or not kind["counted"]:
        return value
    return value * float(kind["scale"]) / length_s if length_s > 0 else None
