"""Which share of the frames took longer: the complementary cumulative distribution (CCDF)."""

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
from plimsoll.report.figures.value_axis import MIN_US, log_x_axis

_NAME, _TITLE = "latency-ccdf", "Frames that took longer (CCDF)"


def latency_ccdf(data: RunData) -> Figure:
    """For each latency the share of a stream's samples above it, both axes logarithmic."""
    lines = [each for distribution in data.distributions for each in distribution.lines.items()]
    rows = [row for name, line in lines for row in ccdf_rows(line, {"stream": name})]
    if data.focus is None or not rows:
        return Figure(_NAME, _TITLE, "No trial has recorded a latency histogram yet.", None)
    caption = (
        f"The share of samples that took longer than each latency, in {trial_words(data.focus)}. "
        "A straight slope down to the right is a heavy tail; a shelf is something periodic."
        f"{of_ends(data.distributions)}"
    )
    names = list(dict.fromkeys(str(row["stream"]) for row in rows))
    return Figure(_NAME, _TITLE, caption, _chart(rows, names))


def ccdf_rows(
    histogram: HdrHistogram, names: Mapping[str, object], most: int = MAX_STEPS
) -> list[dict[str, object]]:
    """`latency` in µs against the `share` of samples above it, each row with these `names`.

    From the bucket below which nothing lies to the last but one: beyond that nothing took longer.
    """
    total, above = histogram.get_total_count(), histogram.get_total_count()
    rows: list[dict[str, object]] = []
    for _, highest, count in recorded_buckets(histogram):
        above -= count
        if above:
            latency = max(highest / 1e3, MIN_US)
            rows.append({"latency": latency, "share": above / total, **names})
    return evenly(rows, most)


def _chart(rows: list[dict[str, object]], names: list[str]) -> alt.Chart:
    latencies = [float(str(row["latency"])) for row in rows]
    chart: alt.Chart = (
        alt.Chart(records(rows))
        .mark_line(strokeWidth=1.8, interpolate="step-after")
        .encode(
            x=log_x_axis("latency", "latency (µs, log)", latencies),
            y=alt.Y(
                "share:Q",
                title="share that took longer (log)",
                scale=alt.Scale(type="log", nice=False),
                axis=alt.Axis(format="~e", tickCount=6),
            ),
            color=alt.Color("stream:N", scale=series_scale(names)),
            strokeDash=alt.StrokeDash("stream:N", legend=None, sort=names),
            tooltip=[
                alt.Tooltip("stream:N"),
                alt.Tooltip("latency:Q", title="longer than (µs)", format=",.4~f"),
                alt.Tooltip("share:Q", title="share", format=".3~e"),
            ],
        )
    )
    return chart


CHART = Chart(latency_ccdf, "latency", order=2)
