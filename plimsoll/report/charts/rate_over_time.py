"""A rate of frames over the focus trial, one line a direction, with the intended load as a rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt

from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.figures.figure import NEUTRAL, records, series_scale
from plimsoll.report.figures.time_axis import Point, Thinned, TimeAxis, extremes
from plimsoll.report.figures.value_axis import TICKS


def rate_over_time(
    series: Mapping[str, Sequence[Point]], trial: TrialRecord, verb: str
) -> tuple[alt.LayerChart, str]:
    """The chart of what was sent or received (`verb`), and what is to be said of how it is drawn.

    `series` are in pps.
    """
    kept = extremes(series)
    axis = TimeAxis.over(trial.sending_s)
    domain = _domain(kept, trial.load_pps)
    rates = _rates(kept, axis, domain, verb)
    remarks = f"{' The axis does not start at zero.' if domain[0] > 0 else ''}{kept.remark()}"
    return alt.LayerChart(layer=[rates, _load_rule(trial.load_pps)]), remarks


def _domain(kept: Thinned, load_pps: float) -> list[float]:
    """The rates that the axis spans, in Mpps."""
    rates = [point.value for points in kept.series.values() for point in points]
    # A margin of 5 % around the load, so that a steady rate is not drawn as a mountain range.
    return [min([load_pps * 0.95, *rates]) / 1e6, max([load_pps * 1.05, *rates]) / 1e6]


def _rates(kept: Thinned, axis: TimeAxis, domain: list[float], verb: str) -> alt.Chart:
    rows = [
        {"time": point.at_s / axis.divisor, "rate": point.value / 1e6, "direction": f"port {name}"}
        for name, points in kept.series.items()
        for point in points
    ]
    chart: alt.Chart = (
        alt.Chart(records(rows))
        .mark_line(strokeWidth=1.8, interpolate="linear", clip=True)
        .encode(
            x=axis.x("trial"),
            y=alt.Y(
                "rate:Q",
                title=f"{verb} (Mpps)",
                scale=alt.Scale(domain=domain, zero=False, nice=False),
                axis=alt.Axis(format=TICKS),
            ),
            color=alt.Color(
                "direction:N", scale=series_scale([f"port {name}" for name in kept.series])
            ),
            strokeDash=alt.StrokeDash("direction:N", legend=None),
            tooltip=[
                alt.Tooltip("direction:N"),
                alt.Tooltip("time:Q", title=f"time ({axis.unit})", format=".4~f"),
                alt.Tooltip("rate:Q", title=f"{verb} (Mpps)", format=".6~f"),
            ],
        )
    )
    return chart


def _load_rule(load_pps: float) -> alt.Chart:
    rule = records([{"load": load_pps / 1e6}])
    chart: alt.Chart = (
        alt.Chart(rule)
        .mark_rule(strokeDash=[6, 4], strokeWidth=1.4, color=NEUTRAL)
        .encode(
            y=alt.Y("load:Q"),
            tooltip=[alt.Tooltip("load:Q", title="intended (Mpps)", format=".6~f")],
        )
    )
    return chart
