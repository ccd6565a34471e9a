"""How many probes took how many whole microseconds, over a whole probe run."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.record.results.probe_result import ProbeStatistics
from plimsoll.report.figures.figure import Figure
from plimsoll.report.figures.microsecond_bars import microsecond_bars

_NAME, _TITLE = "probe-buckets", "Probes by microsecond"


def probe_buckets(statistics: Sequence[ProbeStatistics]) -> Figure:
    """Latency in buckets of 1 µs, samples on a log axis, a series for each direction."""
    series = {each.stream.name: each.stream.latency_us for each in statistics}
    chart = microsecond_bars(series, "samples")
    if chart is None:
        return Figure(_NAME, _TITLE, "No probe has come back yet.", None)
    caption = (
        "Both axes show a long tail: a single sample is a bar of its own. What took a "
        "millisecond or longer is in the last bucket."
    )
    return Figure(_NAME, _TITLE, caption, chart)
