"""The load that was sent over time, one line a direction, with the intended load as a rule."""

from __future__ import annotations

from plimsoll.report.charts.chart import Chart
from plimsoll.report.charts.rate_over_time import rate_over_time
from plimsoll.report.data.run_data import RunData
from plimsoll.report.data.trial_series import series_of, trial_words
from plimsoll.report.figures.figure import Figure
from plimsoll.report.parts.headline import compared_loads

_NAME, _TITLE = "sent-rate", "Sent rate"


def sent_rate(data: RunData) -> Figure:
    """Mpps sent by direction in the focus trial: each second that fell short shows."""
    series = series_of(data, "tx-pps", ("tx_port", "rx_port"))
    if data.focus is None or not series:
        return Figure(_NAME, _TITLE, "No trial has recorded what it sent yet.", None)
    caption = (
        f"Frames sent each interval in {trial_words(data.focus)}; the dashed rule is the "
        "intended load."
    )
    trial = data.focus
    if trial.offered_pps is not None:
        least = trial.evidence.least_offered if trial.evidence else None
        caption += f" {compared_loads(trial.load_pps, trial.offered_pps, least)}."
    chart, remarks = rate_over_time(series, trial, "sent")
    return Figure(_NAME, _TITLE, caption + remarks, chart)


CHART = Chart(sent_rate, "offered", types=("tx-pps",))
