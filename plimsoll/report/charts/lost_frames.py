"""Lost frames over time, by direction."""

from __future__ import annotations

import altair as alt

from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.charts.chart import Chart
from plimsoll.report.data.run_data import LOST_TYPE, RunData
from plimsoll.report.data.trial_series import series_of, trial_words
from plimsoll.report.figures.figure import Figure, records, series_scale
from plimsoll.report.figures.time_axis import Thinned, TimeAxis, thinned

_NAME, _TITLE = "lost-frames", "Lost frames"
# An interval's length is known from two times in whole ms.
_ROUNDING_S = 1e-3


def lost_frames(data: RunData) -> Figure:
    """Frames lost per second by direction in the focus trial; a sentence when there are none."""
    series = series_of(data, LOST_TYPE, ("tx_port", "rx_port"))
    if data.focus is None or not series:
        return Figure(_NAME, _TITLE, "No trial has recorded its losses yet.", None)
    words, unnamed = trial_words(data.focus), _unnamed(data, data.focus)
    if not any(point.value for points in series.values() for point in points):
        sentence = f"No interval of {words} lost a frame.{unnamed}"
        return Figure(_NAME, _TITLE, sentence, None)
    kept = thinned(series, max)
    caption = (
        f"Intervals with losses in {words}; intervals without are not drawn. A negative value "
        f"is frames that came late, after they had been counted as lost.{unnamed}{kept.remark()}"
    )
    return Figure(_NAME, _TITLE, caption, _dots(kept, data.focus.sending_s))


def _unnamed(data: RunData, focus: TrialRecord) -> str:
    """The losses of no interval: a loss shows when a later frame of its stream comes back."""
    shown, unknown = 0.0, 0.0
    for row in data.series:
        if row.type == LOST_TYPE:
            shown += row.value * (row.end_ms - row.begin_ms) / 1e3
            unknown += abs(row.value) * _ROUNDING_S
    remainder = round(sum(stream.lost for stream in focus.streams) - shown)
    if remainder <= unknown:
        return ""
    frames = f"{remainder:,} frame was" if remainder == 1 else f"{remainder:,} frames were"
    return (
        f" {'About ' if unknown >= 0.5 else ''}{frames} lost after the last one that came back; "
        "no interval can be named."
    )


def _dots(kept: Thinned, sending_s: float) -> alt.Chart:
    # A loss may show in the drain, after the last send.
    losses = (point.at_s for points in kept.series.values() for point in points if point.value)
    axis = TimeAxis.over(max([sending_s, *losses]))
    rows = [
        {"time": point.at_s / axis.divisor, "lost": point.value, "direction": f"port {name}"}
        for name, points in kept.series.items()
        for point in points
        if point.value
    ]
    directions = [f"port {name}" for name in kept.series]
    chart: alt.Chart = (
        alt.Chart(records(rows))
        .mark_point(filled=True, size=34, opacity=0.85)
        .encode(
            x=axis.x("trial"),
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
    return chart


CHART = Chart(lost_frames, "lost", types=(LOST_TYPE,))
