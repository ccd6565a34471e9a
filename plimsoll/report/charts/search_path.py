"""The search as a path: the load of each trial, and how it ended."""

from __future__ import annotations

import math

import altair as alt

from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.charts.chart import Chart
from plimsoll.report.data.run_data import RunData
from plimsoll.report.figures.figure import (
    NEUTRAL,
    VERDICT_COLOURS,
    VERDICT_SHAPES,
    VERDICTS,
    Figure,
    records,
)
from plimsoll.report.figures.value_axis import TICKS
from plimsoll.text.units import format_duration

_NAME, _TITLE = "search-path", "Search path"
_MAX_TICKS = 20
# These are at a load for another reason than to find out whether it passes.
_UNCHARTED = ("calibration", "warmup", "ceiling")


def search_path(data: RunData) -> Figure:
    """Trial number against load, by verdict; validations ringed, the load line as a rule."""
    trials = [trial for trial in data.trials if trial.phase not in _UNCHARTED]
    if not trials:
        return Figure(_NAME, _TITLE, "No trial of the search has ended yet.", None)
    layers = (_path(trials), _rings(trials), _verdicts(trials))
    placed = [layer.encode(x=_trial_axis(trials), y=_load_axis(trials)) for layer in layers]
    line = data.result.load_line if data.result else None
    rules = [] if line is None else [_load_line(line.pps_per_direction)]
    caption = (
        "Every trial in order, by its intended load; a ring marks a validation, the dashed rule "
        "is the load line, as it was offered. Invalid trials, spoiled by the tester, are repeated "
        "and move no bound."
    )
    chart = alt.LayerChart(layer=[*rules, *placed])
    return Figure(_NAME, _TITLE, caption, chart)


def _row(trial: TrialRecord) -> dict[str, object]:
    return {
        "number": trial.number,
        "load": trial.load_pps / 1e6,
        "offered": None if trial.offered_pps is None else trial.offered_pps / 1e6,
        "verdict": trial.verdict,
        "phase": trial.phase,
        "length": format_duration(trial.sending_s),
        "reason": "; ".join(finding.text for finding in trial.reasons) or "none",
    }


def _base(trials: list[TrialRecord]) -> alt.Chart:
    return alt.Chart(records([_row(trial) for trial in trials]))


def _trial_axis(trials: list[TrialRecord]) -> alt.X:
    """Whole trial numbers, with half a trial's room at either end."""
    numbers = [trial.number for trial in trials]
    every = math.ceil(len(numbers) / _MAX_TICKS)
    return alt.X(
        "number:Q",
        title="trial",
        axis=alt.Axis(values=numbers[::every], format="d"),
        scale=alt.Scale(domain=[min(numbers) - 0.5, max(numbers) + 0.5], nice=False),
    )


def _load_axis(trials: list[TrialRecord]) -> alt.Y:
    """From zero, so that an axis has ticks even where all loads are one."""
    greatest = max(trial.load_pps for trial in trials) / 1e6
    return alt.Y(
        "load:Q",
        title="load per direction (Mpps)",
        axis=alt.Axis(tickCount=6, format=TICKS),
        scale=alt.Scale(domain=[0, 1.1 * greatest], nice=False),
    )


def _path(trials: list[TrialRecord]) -> alt.Chart:
    chart: alt.Chart = _base(trials).mark_line(color=NEUTRAL, strokeWidth=1, opacity=0.7)
    return chart


def _rings(trials: list[TrialRecord]) -> alt.Chart:
    validations = [trial for trial in trials if trial.phase == "validation"]
    chart: alt.Chart = _base(validations).mark_point(
        shape="circle", size=420, strokeWidth=1.4, color=NEUTRAL, filled=False
    )
    return chart


def _verdicts(trials: list[TrialRecord]) -> alt.Chart:
    met = [verdict for verdict in VERDICTS if any(trial.verdict == verdict for trial in trials)]
    places = [VERDICTS.index(verdict) for verdict in met]
    colours = alt.Scale(domain=met, range=[VERDICT_COLOURS[place] for place in places])
    shapes = alt.Scale(domain=met, range=[VERDICT_SHAPES[place] for place in places])
    chart: alt.Chart = (
        _base(trials)
        .mark_point(filled=True, size=110, opacity=1)
        .encode(
            color=alt.Color("verdict:N", scale=colours),
            shape=alt.Shape("verdict:N", scale=shapes),
            tooltip=[
                alt.Tooltip("number:Q", title="trial"),
                alt.Tooltip("phase:N"),
                alt.Tooltip("load:Q", title="intended (Mpps)", format=".6~f"),
                alt.Tooltip("offered:Q", title="offered (Mpps)", format=".6~f"),
                alt.Tooltip("length:N"),
                alt.Tooltip("verdict:N"),
                alt.Tooltip("reason:N"),
            ],
        )
    )
    return chart


def _load_line(pps: float) -> alt.Chart:
    rule = records([{"load": pps / 1e6}])
    chart: alt.Chart = (
        alt.Chart(rule)
        .mark_rule(strokeDash=[6, 4], strokeWidth=1.4, color=NEUTRAL)
        .encode(
            y=alt.Y("load:Q"),
            tooltip=[alt.Tooltip("load:Q", title="load line (Mpps)", format=".6~f")],
        )
    )
    return chart


CHART = Chart(search_path, "first-screen")
