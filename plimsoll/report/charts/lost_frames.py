"""Lost frames over time, by direction."""

from __future__ import annotations

import altair as alt

from plimsoll.report.charts.figure import Figure, records
from plimsoll.report.charts.palette import series_scale
from plimsoll.report.charts.time_axis import TimeAxis, thinned
from plimsoll.report.charts.trial_series import series_of, trial_words
from plimsoll.report.run_data import RunData

_NAME, _TITLE = "lost-frames", "Lost frames"


def lost_frames(data: RunData) -> Figure:
    """Frames lost per second by direction in the focus trial; a sentence when there are none."""
    series = series_of(data, "lost-rx-pps", ("tx_port", "rx_port"))
    if data.focus is None or not series:
        return Figure(_NAME, _TITLE, "No trial has recorded its losses yet.", None)
    words = trial_words(data.focus)
    if not any(point.value for points in series.values() for point in points):
        return Figure(_NAME, _TITLE, f"No interval of {words} lost a frame.", None)
    kept = thinned(series, max)
    axis = TimeAxis.over(data.focus.sending_s)
    rows = [
        {"time": point.at_s / axis.divisor, "lost": point.value, "direction": f"port {name}"}
        for name, points in kept.series.items()
        for point in points
        if point.value
    ]
    directions = [f"port {name}" for name in kept.series]
    chart = (
        alt.Chart(records(rows))
        .mark_point(filled=True, size=34, opacity=0.85)
        .encode(
            x=alt.X(
                "time:Q",
                title=f"time in the trial ({axis.unit})",
                scale=alt.Scale(domain=[0, data.focus.sending_s / axis.divisor]),
            ),
            y=alt.Y("lost:Q", title="lost (frames/s)"),
            color=alt.Color("direction:N", scale=series_scale(directions)),
            shape=alt.Shape("direction:N", scale=alt.Scale(domain=directions)),
            tooltip=[
                alt.Tooltip("direction:N"),
                alt.Tooltip("time:Q", title=f"time ({axis.unit})", format=".4~f"),
                alt.Tooltip("lost:Q", title="lost (frames/s)", format=",.6~f"),
            ],
        )
    )
    caption = (
        f"Intervals with losses in {words}; intervals without are not drawn. A negative value "
        f"is frames that came late, after they had been counted as lost.{kept.remark()}"
    )
    return Figure(_NAME, _TITLE, caption, chart)
