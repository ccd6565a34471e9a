"""The tester's own gaps: how often each polling loop was away for how long."""

from __future__ import annotations

import altair as alt

from plimsoll.generator.histogram import recorded_buckets
from plimsoll.report.charts.chart import Chart
from plimsoll.report.data.run_data import LoopGaps, RunData
from plimsoll.report.data.trial_series import trial_words
from plimsoll.report.figures.figure import Figure, records, series_scale
from plimsoll.report.figures.value_axis import MIN_US, log_axis, log_x_axis

_NAME, _TITLE = "polling-gaps", "Gaps of the polling loops"


def polling_gaps(data: RunData) -> Figure:
    """For each loop and length, how many gaps of the focus trial were at least so long."""
    rows = [row for gaps in data.gaps for row in _rows(gaps)]
    if data.focus is None or not rows:
        return Figure(_NAME, _TITLE, "No trial has recorded the gaps of its loops yet.", None)
    caption = (
        f"Every time in {trial_words(data.focus)} that a loop of the tester took longer than 1 µs "
        "between two looks at the clock, its own work included: what it cannot see or send "
        "any finer. Lengths are known to 0.78 %."
    )
    return Figure(_NAME, _TITLE, caption, _lines(rows))


def _rows(gaps: LoopGaps) -> list[dict[str, object]]:
    histogram = gaps.histogram
    remaining = histogram.get_total_count()
    rows: list[dict[str, object]] = []
    for lowest, _, count in recorded_buckets(histogram):
        length_us = max(lowest / 1e3, MIN_US)
        rows.append({"length": length_us, "gaps": remaining, "loop": f"CPU {gaps.cpu}"})
        remaining -= count
    return rows


def _lines(rows: list[dict[str, object]]) -> alt.Chart:
    loops = sorted({str(row["loop"]) for row in rows})
    chart: alt.Chart = (
        alt.Chart(records(rows))
        .mark_line(strokeWidth=1.8, interpolate="step-before")
        .encode(
            x=log_x_axis("length", "length (µs, log)", [float(str(r["length"])) for r in rows]),
            y=log_axis(
                "gaps", "gaps of at least this length (log)", [float(str(r["gaps"])) for r in rows]
            ),
            color=alt.Color("loop:N", scale=series_scale(loops)),
            strokeDash=alt.StrokeDash("loop:N", legend=None, sort=loops),
            tooltip=[
                alt.Tooltip("loop:N"),
                alt.Tooltip("length:Q", title="at least (µs)", format=",.4~f"),
                alt.Tooltip("gaps:Q", title="gaps", format=",d"),
            ],
        )
    )
    return chart


CHART = Chart(polling_gaps, "tester", order=1)
