"""Median and greatest latency of a probe, window by window."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import altair as alt

from plimsoll.methods.probe.result import ProbeLine, ProbeSegment, ProbeStatistics
from plimsoll.methods.probe.summary import delayed_us
from plimsoll.report.figures.figure import Figure, records, series_scale
from plimsoll.report.figures.microsecond_bars import microsecond_bars
from plimsoll.report.figures.value_axis import MIN_US, log_axis

_NAME, _TITLE = "probe-windows", "Latency by window"
_MEASURES = ("median", "max")
_CAPTION = "The median is solid, the greatest dashed."
_OF_ENDS = (
    "Lines are the most that the DUT took; a bar reaches down to the least, where stalls of the "
    "tester leave it open."
)
_BUCKETS, _BUCKETS_TITLE = "probe-buckets", "Probes by microsecond"


def probe_windows(lines: Sequence[ProbeLine], segments: Sequence[ProbeSegment]) -> Figure:
    """Minutes since the run began against latency, a line for each direction and measure."""
    rows = [*_rows(lines, _zeros_ns(segments))]
    if not rows:
        return Figure(_NAME, _TITLE, "No window has ended yet.", None)
    names = list(dict.fromkeys(line.stream for line in lines))
    latencies = [float(str(row["latency"])) for row in rows]
    lows = [float(str(row["low"])) for row in rows]
    base = alt.Chart(records(rows)).encode(
        x=alt.X("minutes:Q", title="since the run began (min)", scale=alt.Scale(nice=False)),
        y=log_axis("latency", "latency (µs, log)", [*latencies, *lows]),
        color=alt.Color("stream:N", scale=series_scale(names)),
        detail=alt.Detail("trial:N"),
        tooltip=[
            alt.Tooltip("stream:N"),
            alt.Tooltip("measure:N"),
            alt.Tooltip("low:Q", title="at least (µs)", format=".4~f"),
            alt.Tooltip("latency:Q", title="at most (µs)", format=".4~f"),
            alt.Tooltip("minutes:Q", title="minutes", format=".2~f"),
        ],
    )
    line = base.mark_line(point=alt.OverlayMarkDef(size=18)).encode(
        strokeDash=alt.StrokeDash(
            "measure:N", scale=alt.Scale(domain=[*_MEASURES], range=[[1, 0], [4, 3]])
        )
    )
    if lows == latencies:
        return Figure(_NAME, _TITLE, _CAPTION, line)
    # Down to the low end: no bar where both are the same.
    bars = base.mark_rule(strokeWidth=2, opacity=0.4).encode(y2=alt.Y2("low:Q"))
    return Figure(_NAME, _TITLE, f"{_CAPTION} {_OF_ENDS}", alt.LayerChart(layer=[bars, line]))


def _zeros_ns(segments: Sequence[ProbeSegment]) -> dict[int, float]:
    """When the run began by each trial's own clock, which may have been set between two."""
    zeros_ns: dict[int, float] = {}
    begin_s = 0.0
    for segment in segments:
        begin_s += segment.gap_s
        zeros_ns[segment.trial] = segment.begin_unix_ns - begin_s * 1e9
        begin_s += segment.sending_s
    return zeros_ns


def _rows(lines: Sequence[ProbeLine], zeros_ns: Mapping[int, float]) -> Iterator[dict[str, object]]:
    for line in lines:
        low, high = line.ends
        found = ((low.median_ns, high.median_ns), (low.max_ns, high.max_ns))
        for measure, (low_ns, high_ns) in zip(_MEASURES, found, strict=True):
            if low_ns is not None and high_ns is not None:
                yield {
                    "stream": line.stream,
                    "trial": line.trial,
                    "measure": measure,
                    "minutes": (line.begin_unix_ns - zeros_ns[line.trial]) / 60e9,
                    "low": max(low_ns / 1e3, MIN_US),
                    "latency": max(high_ns / 1e3, MIN_US),
                }


# How many probes took how many whole microseconds, over a whole probe run.
def probe_buckets(statistics: Sequence[ProbeStatistics]) -> Figure:
    """Latency in buckets of 1 µs, samples on a log axis, a series for each direction."""
    series = dict(_series(statistics))
    chart = microsecond_bars(series, "samples")
    if chart is None:
        return Figure(_BUCKETS, _BUCKETS_TITLE, "No probe has come back yet.", None)
    caption = (
        "Both axes show a long tail: a single sample is a bar of its own. What took a "
        "millisecond or longer is in the last bucket."
    )
    if len(series) > len(statistics):
        caption += (
            " Samples that stalls of the tester may have delayed are apart, by what the DUT took "
            "at least and at most."
        )
    return Figure(_BUCKETS, _BUCKETS_TITLE, caption, chart)


def _series(
    statistics: Sequence[ProbeStatistics],
) -> Iterator[tuple[str, Sequence[tuple[int, int]]]]:
    for each in statistics:
        yield each.stream.name, each.stream.latency_us
        low, high = delayed_us(each.stream)
        if high:
            yield f"{each.stream.name}, delayed: at least", low
            yield f"{each.stream.name}, delayed: at most", high
