"""Two small charts of each trial of a run: its received rate, and its latency quantiles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from plimsoll.record.metrics.metrics import MetricRow, read_metrics
from plimsoll.record.run.run_directory import RunDirectory, trial_period
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.charts.latency.latency_over_time import SEPARATOR, quantiles_over_time
from plimsoll.report.charts.rate_over_time import rate_over_time
from plimsoll.report.data.run_data import before_drain
from plimsoll.report.data.trial_series import series_in
from plimsoll.report.figures.figure import Figure

# A page of a thousand short trials would be all charts.
MAX_TRIALS = 60
_QUANTILES = ("p50", "p99", "max")
_LATENCY = {quantile: f"{quantile}-round-trip-usec" for quantile in _QUANTILES}
_TYPES = ("rx-pps", *_LATENCY.values())
_HEIGHT = 180


def trial_figures(
    run: RunDirectory, trials: Sequence[TrialRecord], drawn: int | None
) -> Mapping[int, tuple[Figure, ...]]:
    """By trial's number; none of `drawn`, which the page shows large. Raises RecordError."""
    others = [trial for trial in trials if trial.number != drawn][:MAX_TRIALS]
    if not others:
        return {}
    rows: dict[str, list[MetricRow]] = {trial_period(trial.number): [] for trial in others}
    for row in read_metrics(run, periods=list(rows), types=_TYPES, without_damaged=True):
        rows[row.period].append(row)
    return {trial.number: tuple(_of(trial, rows[trial_period(trial.number)])) for trial in others}


def _of(trial: TrialRecord, rows: Sequence[MetricRow]) -> Iterator[Figure]:
    sent = [row for row in rows if before_drain(row, trial)]
    rates = series_in(sent, trial, "rx-pps", ("tx_port", "rx_port"))
    if rates:
        chart, remark = rate_over_time(rates, trial, "received")
        caption = f"The dashed rule is the intended load.{remark}"
        yield Figure(f"trial-{trial.number}-rate", "Received rate", caption, chart, _HEIGHT)
    probes = {stream.name for stream in trial.streams if stream.role == "latency"}
    quantiles = {
        f"{quantile}{SEPARATOR}{stream}": points
        for quantile, kind in _LATENCY.items()
        for stream, points in series_in(sent, trial, kind, ("stream",)).items()
        if stream in probes or not probes
    }
    if quantiles:
        lines, remark = quantiles_over_time(quantiles, trial.sending_s)
        caption = f"Of each interval.{remark}"
        yield Figure(f"trial-{trial.number}-latency", "Latency", caption, lines, _HEIGHT)
