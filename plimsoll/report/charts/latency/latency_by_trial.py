"""Probe latency against load: every trial that the tester did not spoil, at what it offered."""

from __future__ import annotations

from collections.abc import Iterator

import altair as alt

from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.charts.chart import Chart
from plimsoll.report.data.run_data import RunData
from plimsoll.report.figures.figure import (
    QUANTILE_COLOURS,
    VERDICT_SHAPES,
    VERDICTS,
    Figure,
    records,
)
from plimsoll.report.figures.value_axis import CHARTED_QUANTILES, log_axis, quantile_ends

_NAME, _TITLE = "latency-against-load", "Latency against load"
_JUDGED = ("pass", "fail")


def latency_by_trial(data: RunData) -> Figure:
    """Offered load against the quantiles of the slowest probe, a mark for each trial."""
    rows = [row for trial in data.trials if trial.verdict in _JUDGED for row in _rows(trial)]
    if not rows:
        return Figure(_NAME, _TITLE, "No valid trial has recorded a latency yet.", None)
    caption = (
        "Each trial that passed or failed, at the load that it offered; of several probes the "
        "slowest. Invalid trials are left out."
    )
    if any(row["low"] != row["latency"] for row in rows):
        caption += (
            " Marks are the most that the DUT took; a bar reaches down to the least, where stalls "
            "of the tester leave it open."
        )
    return Figure(_NAME, _TITLE, caption, _chart(rows))


def _rows(trial: TrialRecord) -> Iterator[dict[str, object]]:
    probes = [stream for stream in trial.streams if stream.role == "latency"] or trial.streams
    offered = trial.load_pps if trial.offered_pps is None else trial.offered_pps
    slowest = max(probes, key=lambda stream: stream.latency_ends[1].p99_ns or 0, default=None)
    if slowest is None:
        return
    for row in quantile_ends(slowest.latency_ends):
        yield row | {
            "load": offered / 1e6,
            "trial": trial.number,
            "verdict": trial.verdict,
            "stream": slowest.name,
        }


def _chart(rows: list[dict[str, object]]) -> alt.LayerChart:
    latencies = [float(str(row[end])) for row in rows for end in ("low", "latency")]
    base = alt.Chart(records(rows)).encode(
        x=alt.X("load:Q", title="offered load per direction (Mpps)", scale=alt.Scale(zero=False)),
        y=log_axis("latency", "latency (µs, log)", latencies),
        color=alt.Color(
            "quantile:N",
            sort=list(CHARTED_QUANTILES),
            scale=alt.Scale(domain=list(CHARTED_QUANTILES), range=list(QUANTILE_COLOURS)),
        ),
    )
    shapes = [VERDICT_SHAPES[VERDICTS.index(verdict)] for verdict in _JUDGED]
    marks = base.mark_point(filled=True, size=55, opacity=0.9).encode(
        shape=alt.Shape("verdict:N", scale=alt.Scale(domain=list(_JUDGED), range=shapes)),
        tooltip=[
            alt.Tooltip("trial:Q"),
            alt.Tooltip("verdict:N"),
            alt.Tooltip("stream:N"),
            alt.Tooltip("quantile:N"),
            alt.Tooltip("load:Q", title="offered (Mpps)", format=".4~f"),
            alt.Tooltip("low:Q", title="at least (µs)", format=",.4~f"),
            alt.Tooltip("latency:Q", title="at most (µs)", format=",.4~f"),
        ],
    )
    lines = base.mark_line(strokeWidth=1, opacity=0.4)
    # Down to the low end: no bar where both are the same.
    bars = base.mark_rule(strokeWidth=2, opacity=0.4).encode(y2=alt.Y2("low:Q"))
    return alt.LayerChart(layer=[lines, bars, marks])


CHART = Chart(latency_by_trial, "latency", order=3)
