"""Received rate over time, one line a direction, with the load as a rule."""

from __future__ import annotations

import altair as alt

from plimsoll.report.charts.figure import Figure, records
from plimsoll.report.charts.palette import NEUTRAL, series_scale
from plimsoll.report.charts.time_axis import Thinned, TimeAxis, thinned
from plimsoll.report.charts.trial_series import series_of, trial_words
from plimsoll.report.run_data import RunData

_NAME, _TITLE = "rx-rate", "Received rate"


def rx_rate(data: RunData) -> Figure:
    """Mpps received by direction in the focus trial."""
    series = series_of(data, "rx-pps", ("tx_port", "rx_port"))
    if data.focus is None or not series:
        return Figure(_NAME, _TITLE, "No trial has recorded a received rate yet.", None)
    kept = thinned(series, min)
    axis = TimeAxis.over(data.focus.sending_s)
    load_pps = data.focus.load_pps
    domain = _domain(kept, load_pps)
    caption = (
        f"Frames received each interval in {trial_words(data.focus)}; the dashed rule is the load."
        f"{' The axis does not start at zero.' if domain[0] > 0 else ''}{kept.remark()}"
    )
    rates = _rates(kept, axis, data.focus.sending_s, domain)
    chart = alt.LayerChart(layer=[rates, _load_rule(load_pps)])
    return Figure(_NAME, _TITLE, caption, chart)


def _domain(kept: Thinned, load_pps: float) -> list[float]:
    """The rates that the axis spans, in Mpps."""
    rates = [point.value for points in kept.series.values() for point in points]
    # A margin of 5 % around the load, so that a steady rate is not drawn as a mountain range.
    return [min([load_pps * 0.95, *rates]) / 1e6, max([load_pps * 1.05, *rates]) / 1e6]


def _rates(kept: Thinned, axis: TimeAxis, sending_s: float, domain: list[float]) -> alt.Chart:
    rows = [
        {"time": point.at_s / axis.divisor, "rate": point.value / 1e6, "direction": f"port {name}"}
        for name, points in kept.series.items()
        for point in points
    ]
    chart: alt.Chart = (
        alt.Chart(records(rows))
        .mark_line(strokeWidth=1.8, interpolate="linear", clip=True)
        .encode(
            x=alt.X(
                "time:Q",
                title=f"time in the trial ({axis.unit})",
                scale=alt.Scale(domain=[0, sending_s / axis.divisor]),
            ),
            y=alt.Y(
                "rate:Q",
                title="received (Mpps)",
                scale=alt.Scale(domain=domain, zero=False, nice=False),
            ),
            color=alt.Color(
                "direction:N", scale=series_scale([f"port {name}" for name in kept.series])
            ),
            strokeDash=alt.StrokeDash("direction:N", legend=None),
            tooltip=[
                alt.Tooltip("direction:N"),
                alt.Tooltip("time:Q", title=f"time ({axis.unit})", format=".4~f"),
                alt.Tooltip("rate:Q", title="received (Mpps)", format=".6~f"),
            ],
        )
    )
    return chart


def _load_rule(load_pps: float) -> alt.Chart:
    rule = records([{"load": load_pps / 1e6}])
    chart: alt.Chart = (
        alt.Chart(rule)
        .mark_rule(strokeDash=[6, 4], strokeWidth=1.4, color=NEUTRAL)
        .encode(y="load:Q", tooltip=[alt.Tooltip("load:Q", title="load (Mpps)", format=".6~f")])
    )
    return chart
