"""Latency distribution by percentile, as HdrHistogram's own plots draw it."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
from hdrh.histogram import HdrHistogram

from plimsoll.generator.histogram import recorded_buckets
from plimsoll.report.charts.chart import Chart
from plimsoll.report.data.latency_distribution import of_ends
from plimsoll.report.data.run_data import RunData
from plimsoll.report.data.trial_series import trial_words
from plimsoll.report.figures.figure import MAX_STEPS, Figure, evenly, records, series_scale
from plimsoll.report.figures.value_axis import MIN_US, log_axis

_NAME, _TITLE = "latency-distribution", "Latency by percentile"
_MAX_NINES = 12
# 1 / (1 - percentile) grows tenfold with each further nine: its logarithm spreads the tail out.
_LABEL = "datum.value < 1.5 ? '0 %' : format(100 * (1 - 1 / datum.value), '.10~f') + ' %'"


def latency_distribution(data: RunData) -> Figure:
    """Latency at each percentile of each stream of the focus trial."""
    lines = [each for distribution in data.distributions for each in distribution.lines.items()]
    rows = [row for name, line in lines for row in percentile_rows(line, {"stream": name})]
    if data.focus is None or not rows:
        return Figure(_NAME, _TITLE, "No trial has recorded a latency histogram yet.", None)
    caption = (
        f"All samples of {trial_words(data.focus)}. A line ends where one sample is left. Values "
        f"are known to 0.78 %.{of_ends(data.distributions)}"
    )
    return Figure(_NAME, _TITLE, caption, _chart(rows, [name for name, _ in lines]))


def percentile_rows(
    histogram: HdrHistogram, names: Mapping[str, object], most: int = MAX_STEPS
) -> list[dict[str, object]]:
    """`latency` in µs at each `percentile`, and its place on the axis, each row with these `names`.

    `samples` is how many took no longer.
    """
    total, seen = histogram.get_total_count(), 0
    rows: list[dict[str, object]] = []
    for _, highest, count in recorded_buckets(histogram):
        seen += count
        # At the last sample the percentile is 100 and the axis has no place for it.
        beyond = max(total - seen, 1)
        rows.append(
            {
                "inverse": total / beyond,
                "percentile": 100 * seen / total,
                "latency": max(highest / 1e3, MIN_US),
                "samples": seen,
                **names,
            }
        )
    return evenly(rows, most)


def _chart(rows: list[dict[str, object]], names: list[str]) -> alt.Chart:
    latencies = [float(str(row["latency"])) for row in rows]
    chart: alt.Chart = (
        alt.Chart(records(rows))
        .mark_line(strokeWidth=1.8, interpolate="step-before")
        .encode(
            x=percentile_axis(),
            y=log_axis("latency", "latency (µs, log)", latencies),
            color=alt.Color("stream:N", scale=series_scale(names)),
            strokeDash=alt.StrokeDash("stream:N", legend=None, sort=names),
            tooltip=[
                alt.Tooltip("stream:N"),
                alt.Tooltip("percentile:Q", title="percentile (%)", format=".8~f"),
                alt.Tooltip("latency:Q", title="at most (µs)", format=",.4~f"),
                alt.Tooltip("samples:Q", title="samples up to here", format=",d"),
            ],
        )
    )
    return chart


def percentile_axis() -> alt.X:
    """The axis of `inverse`, on which each further nine has as much room as the one before."""
    return alt.X(
        "inverse:Q",
        title="percentile",
        scale=alt.Scale(type="log", nice=False, domainMin=1),
        axis=alt.Axis(
            values=[10**nines for nines in range(_MAX_NINES)], labelExpr=_LABEL, grid=True
        ),
    )


CHART = Chart(latency_distribution, "latency", order=1)
