"""Losses, spikes and stalls over the run, each with what caused it."""

from __future__ import annotations

import altair as alt

from plimsoll.attribution.ranking.summary import explanation_of
from plimsoll.record.causes.causes_record import ExplainedIncident, TrialCauses
from plimsoll.report.charts.chart import Chart
from plimsoll.report.data.run_data import RunData
from plimsoll.report.figures.figure import Figure, records, series_scale
from plimsoll.report.figures.time_axis import TimeAxis
from plimsoll.report.figures.value_axis import log_axis
from plimsoll.report.parts.causes import telling_causes

NAME = "causes"
_TITLE = "When, and why"
_SHAPES = {"loss": "cross", "latency": "circle", "stall": "triangle-up"}
_WORDS = {"loss": "loss", "latency": "latency spike", "stall": "stall of the tester"}
_MIN_MS = 0.001
# Each carries its sentence; dots overlap long before these are all read.
_MAX_DOTS = 400


def causes_timeline(data: RunData) -> Figure:
    """Each incident: its time in the run, its length in ms on a log axis, its kind of cause."""
    telling = telling_causes(data.causes, data.trials, data.result)
    found = [(trial, each) for trial in telling for each in trial.incidents if _counts(trial, each)]
    if not found:
        return Figure(NAME, _TITLE, "No loss, no latency spike and no stall was recorded.", None)
    kept = sorted(found, key=lambda each: -each[1].length_ns)[:_MAX_DOTS]
    first = min(each.begin_tsc for _, each in kept)
    axis = TimeAxis.over(max((each.begin_tsc - first) / t.tsc_hz for t, each in kept))
    rows = [_row(trial, each, first, axis) for trial, each in kept]
    caption = (
        "Each loss, latency spike and stall by its time and length; colour is the kind of cause, "
        "shape what happened. The worst are listed below with their kernel events."
        + (
            f" The {len(found) - len(kept):,} shortest are left out."
            if len(found) > len(kept)
            else ""
        )
    )
    return Figure(NAME, _TITLE, caption, _dots(rows, axis))


def _counts(trial: TrialCauses, incident: ExplainedIncident) -> bool:
    return incident.kind != "latency" or incident.length_ns >= trial.spikes_from_ns


def _row(
    trial: TrialCauses, incident: ExplainedIncident, first: int, axis: TimeAxis
) -> dict[str, object]:
    roots = explanation_of(incident).roots
    return {
        "time": (incident.begin_tsc - first) / trial.tsc_hz / axis.divisor,
        "length": max(_MIN_MS, incident.length_ns / 1e6),
        "cause": roots[0].kind if roots else "unexplained",
        "what": _WORDS[incident.kind],
        "why": incident.sentence,
        "trial": trial.trial,
    }


def _dots(rows: list[dict[str, object]], axis: TimeAxis) -> alt.Chart:
    causes = sorted({str(row["cause"]) for row in rows})
    lengths = [float(str(row["length"])) for row in rows]
    what = list(_WORDS.values())
    chart: alt.Chart = (
        alt.Chart(records(rows))
        .mark_point(filled=True, size=40, opacity=0.7)
        .encode(
            x=axis.x("run, since the first"),
            y=log_axis("length", "length (ms, log)", lengths),
            color=alt.Color("cause:N", scale=series_scale(causes)),
            shape=alt.Shape("what:N", scale=alt.Scale(domain=what, range=list(_SHAPES.values()))),
            tooltip=[
                alt.Tooltip("why:N"),
                alt.Tooltip("trial:Q"),
                alt.Tooltip("time:Q", title=f"time ({axis.unit})", format=".4~f"),
                alt.Tooltip("length:Q", title="length (ms)", format=",.4~f"),
            ],
        )
    )
    return chart


CHART = Chart(causes_timeline, "causes")
