"""What stress-ng says of itself: the YAML of --metrics --yaml."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from plimsoll.neighbours.neighbour import Achieved, IntensityUnit
from plimsoll.text.bounded_yaml import load_yaml

_UNIT: IntensityUnit = "bogo-ops/s"
_RATE = "bogo-ops-per-second-real-time"
_CPU_TIMES = ("user-time", "system-time")
# What every stressor has; the rest is its own.
_OF_ALL = frozenset(
    {
        "stressor",
        "bogo-ops",
        "bogo-ops-per-second-usr-sys-time",
        _RATE,
        "wall-clock-time",
        *_CPU_TIMES,
        "cpu-usage-per-instance",
        "max-rss",
    }
)


def read_report(text: str, stressor: str) -> Achieved:
    """The bogo operations a second of the stressor's workers together, and its own figures."""
    try:
        document = load_yaml(text)
    except ValueError as error:
        return Achieved(_UNIT, unknown=f"stress-ng's report cannot be read: {error}")
    metrics = document.get("metrics") if isinstance(document, Mapping) else None
    found = [
        each
        for each in (metrics if isinstance(metrics, list) else ())
        if isinstance(each, Mapping) and each.get("stressor") == stressor
    ]
    if not found:
        return Achieved(_UNIT, unknown=f"stress-ng's report says nothing of {stressor}")
    return _achieved(found[0], _program(document))


def _achieved(metrics: Mapping[str, object], program: str | None) -> Achieved:
    times = [_number(metrics.get(name)) for name in _CPU_TIMES]
    rate = _number(metrics.get(_RATE))
    return Achieved(
        _UNIT,
        intensity=rate,
        cpu_s=None if None in times else math.fsum(time or 0.0 for time in times),
        figures=dict(_figures(metrics)),
        program=program,
        unknown=None if rate is not None else "stress-ng's report has no rate",
    )


def _figures(metrics: Mapping[str, object]) -> Iterator[tuple[str, float]]:
    for name, given in metrics.items():
        value = _number(given)
        if name not in _OF_ALL and value is not None:
            yield str(name), value


def _program(document: Mapping[str, object]) -> str | None:
    system = document.get("system-info")
    version = system.get("stress-ng-version") if isinstance(system, Mapping) else None
    return None if version is None else f"stress-ng {version}"


def _number(given: object) -> float | None:
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        return None
    return float(given)
