"""The focus trial's series by direction or stream, in s since the trial's start."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.record.metrics.metrics import MetricRow
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.data.run_data import RunData
from plimsoll.report.figures.time_axis import Point
from plimsoll.text.units import format_duration, format_pps


def series_of(data: RunData, metric_type: str, names: tuple[str, ...]) -> dict[str, list[Point]]:
    """Each combination of these breakout names, joined by an arrow, with its points by time.

    A point lies at the end of its interval.
    """
    return {} if data.focus is None else series_in(data.series, data.focus, metric_type, names)


def series_in(
    rows: Iterable[MetricRow], trial: TrialRecord, metric_type: str, names: tuple[str, ...]
) -> dict[str, list[Point]]:
    """The same of any trial, of its rows."""
    begin_ms = trial.begin_unix_ns / 1e6
    series: dict[str, list[Point]] = {}
    for row in rows:
        if row.type == metric_type:
            label = " → ".join(row.names[name] for name in names)
            series.setdefault(label, []).append(Point((row.end_ms - begin_ms) / 1e3, row.value))
    return series


def trial_words(trial: TrialRecord) -> str:
    """Which trial a chart shows: "trial 14, validation at 2.742 Mpps, 1m00s"."""
    at = f"at {format_pps(trial.load_pps)} per direction" if trial.load_pps else "without load"
    return f"trial {trial.number}, {trial.phase} {at}, {format_duration(trial.sending_s)}"
