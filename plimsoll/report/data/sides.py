"""The runs of a side, in the trials on which their answers rest: their CPUs, their latencies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean

from hdrh.histogram import HdrHistogram

from plimsoll.analysis.comparison.side import Side, answering_trial
from plimsoll.analysis.trial_histograms import TrialHistograms, TrialTime
from plimsoll.record.index.run_entry import RunEntry
from plimsoll.record.metrics.histogram_log import stream_tag
from plimsoll.record.run.environment import load_environment
from plimsoll.record.run.journal import read_journal
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.data.one_host import OneHost, cpu_shares, observed_host_figures, owner_of


@dataclass(frozen=True, slots=True)
class OwnedCpus:
    """Of one run the CPUs polled by `owner`: "DUT", "tester", or "tester and DUT".

    `shares` are of their time, by state, in the mean of the CPUs; `interrupts_per_s` are those of
    all of them, None where they were not observed.
    """

    run_id: str
    owner: str
    shares: dict[str, float]
    interrupts_per_s: float | None


def owned_cpus(side: Side) -> tuple[OwnedCpus, ...]:
    """Of every run of the side that observed its CPUs under test. Raises RecordError."""
    return tuple(owned for entry in side.runs for owned in _of_run(entry))


def _of_run(entry: RunEntry) -> Iterator[OwnedCpus]:
    trial = answering_trial(entry)
    if trial is None:
        return
    metrics = observed_host_figures(entry.run, load_environment(entry.run.environment), trial)
    shares: defaultdict[str, list[dict[str, float]]] = defaultdict(list)
    interrupts: defaultdict[str, list[float]] = defaultdict(list)
    for one in (OneHost(metrics, host) for host in metrics.hosts):
        for cpu, states in cpu_shares(one).items():
            shares[owner_of(one.host, cpu)].append(states)
        for figure in one.figures("procstat", "interrupts-sec", cpus="under-test"):
            interrupts[owner_of(one.host, int(figure.names["cpu"]))].append(figure.mean)
    for owner, cpus in shares.items():
        means = {state: fmean(cpu[state] for cpu in cpus) for state in cpus[0]}
        counted = sum(interrupts[owner]) if interrupts[owner] else None
        yield OwnedCpus(entry.run_id, owner, means, counted)


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
