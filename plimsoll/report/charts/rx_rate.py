"""Received rate over time, one line a direction, with the intended load as a rule."""

from __future__ import annotations

from plimsoll.report.charts.chart import Chart
from plimsoll.report.charts.rate_over_time import rate_over_time
from plimsoll.report.data.run_data import RunData
from plimsoll.report.data.trial_series import series_of, trial_words
from plimsoll.report.figures.figure import Figure

_NAME, _TITLE = "rx-rate", "Received rate"


def rx_rate(data: RunData) -> Figure:
    """Mpps received by direction in the focus trial."""
    series = series_of(data, "rx-pps", ("tx_port", "rx_port"))
    if data.focus is None or not series:
        return Figure(_NAME, _TITLE, "No trial has recorded a received rate yet.", None)
    caption = (
        f"Frames received each interval in {trial_words(data.focus)}; the dashed rule is the "
        "intended load."
    )
    chart, remarks = rate_over_time(series, data.focus, "received")
    return Figure(_NAME, _TITLE, caption + remarks, chart)


CHART = Chart(rx_rate, "first-screen", order=1, types=("rx-pps",))
