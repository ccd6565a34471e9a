"""How many probes took how many whole microseconds, over a whole probe run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plimsoll.methods.probe.result import ProbeStatistics
from plimsoll.methods.probe.summary import delayed_us
from plimsoll.report.figures.figure import Figure
from plimsoll.report.figures.microsecond_bars import microsecond_bars

_NAME, _TITLE = "probe-buckets", "Probes by microsecond"


def probe_buckets(statistics: Sequence[ProbeStatistics]) -> Figure:
    """Latency in buckets of 1 µs, samples on a log axis, a series for each direction."""
    series = dict(_series(statistics))
    chart = microsecond_bars(series, "samples")
    if chart is None:
        return Figure(_NAME, _TITLE, "No probe has come back yet.", None)
    caption = (
        "Both axes show a long tail: a single sample is a bar of its own. What took a "
        "millisecond or longer is in the last bucket."
    )
    if len(series) > len(statistics):
        caption += (
            " Samples that stalls of the tester may have delayed are apart, by what the DUT took "
            "at least and at most."
        )
    return Figure(_NAME, _TITLE, caption, chart)


def _series(
    statistics: Sequence[ProbeStatistics],
) -> Iterator[tuple[str, Sequence[tuple[int, int]]]]:
    for each in statistics:
        yield each.stream.name, each.stream.latency_us
        low, high = delayed_us(each.stream)
        if high:
            yield f"{each.stream.name}, delayed: at least", low
            yield f"{each.stream.name}, delayed: at most", high
