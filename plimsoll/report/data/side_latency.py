"""All latency samples of the runs of a side, in the trials on which their answers rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hdrh.histogram import HdrHistogram

from plimsoll.analysis.comparison.run_figures import answering_trial
from plimsoll.analysis.comparison.side import Side
from plimsoll.analysis.trial_histograms import TrialHistograms, TrialTime
from plimsoll.record.index.run_entry import RunEntry
from plimsoll.record.metrics.histogram_log import stream_tag
from plimsoll.record.run.journal import read_journal
from plimsoll.record.trials.trial_record import TrialRecord


@dataclass(frozen=True, slots=True)
class RunLatency:
    """The samples of one run, in ns: of its latency streams, else of its load streams."""

    run_id: str
    histogram: HdrHistogram


@dataclass(frozen=True, slots=True)
class SideLatency:
    """The samples of a side: of each run, and of all of them together."""

    label: str
    runs: tuple[RunLatency, ...]
    together: HdrHistogram


def side_latency(side: Side) -> SideLatency | None:
    """None where no run has recorded any. Raises RecordError where a log is damaged."""
    runs = tuple(_of_runs(side))
    if not runs:
        return None
    together = _copy(runs[0].histogram)
    for run in runs[1:]:
        together.add(run.histogram)
    return SideLatency(side.label, runs, together)


def _of_runs(side: Side) -> Iterator[RunLatency]:
    for entry in side.runs:
        trial = answering_trial(entry)
        histogram = _samples(entry, trial) if trial else None
        if histogram is not None and histogram.get_total_count():
            yield RunLatency(entry.run_id, histogram)


def _samples(entry: RunEntry, trial: TrialRecord) -> HdrHistogram | None:
    streams = [each for each in trial.streams if each.role == "latency"] or trial.streams
    tags = {stream_tag(each.name, each.tx_port, each.rx_port) for each in streams}
    time = TrialTime.in_journal(trial, read_journal(entry.run.journal))
    log = TrialHistograms(entry.run.histograms, time, trial, f"trial {trial.number}")
    merged: HdrHistogram | None = None
    for histogram in log.by_tag(tags.__contains__).values():
        if merged is None:
            merged = histogram
        else:
            merged.add(histogram)
    return merged


def _copy(histogram: HdrHistogram) -> HdrHistogram:
    copy = HdrHistogram(
        histogram.lowest_trackable_value,
        histogram.highest_trackable_value,
        histogram.significant_figures,
    )
    copy.add(histogram)
    return copy
