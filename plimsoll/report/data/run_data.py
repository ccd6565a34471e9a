"""What a report shows, loaded from a run directory, be the run finished, killed or running."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from hdrh.histogram import HdrHistogram

from plimsoll.analysis.trial_histograms import TrialHistograms, TrialTime
from plimsoll.record.causes.causes_record import TrialCauses, read_causes
from plimsoll.record.causes.kernel_events import KeptEvent, read_kernel_events
from plimsoll.record.causes.spikes import Spike, read_spikes
from plimsoll.record.metrics.histogram_log import gaps_tag
from plimsoll.record.metrics.metrics import MetricRow, read_metrics
from plimsoll.record.results.result import Result, read_result
from plimsoll.record.run.audit_record import AuditRecord, read_audits
from plimsoll.record.run.environment import Environment, load_environment
from plimsoll.record.run.journal import (
    FINISHED,
    LAB_UP,
    TRIAL_STARTED,
    JournalContents,
    JournalEvent,
    read_journal,
)
from plimsoll.record.run.primary_trial import primary_trial
from plimsoll.record.run.run_directory import RunDirectory, trial_period
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.data.latency_distribution import LatencyDistribution
from plimsoll.report.data.one_host import ObservedTrial, observed_host_figures, only_trial
from plimsoll.trial.outcome.host_metrics import HostMetrics

LOST_TYPE = "lost-rx-pps"
_NS_PER_S = 1e9
_NS_PER_MS = 1e6


@dataclass(frozen=True, slots=True)
class LoopGaps:
    """All gaps of one polling loop over the trial that the charts show, in ns."""

    cpu: int
    histogram: HdrHistogram


@dataclass(frozen=True, slots=True)
class RunData:
    """One run. `focus` is the trial whose seconds the charts show; None before any trial.

    `series` (of the types that were read), `distributions` and `gaps` are the focus trial's,
    `spikes` the whole run's. `hosts` has the metrics of the hosts observed while the focus
    trial sent its frames; None before any trial. `audits` are the hosts' at the run's start.
    `causes` are those of all trials, `kernel_events` what was kept around their worst incidents.
    """

    run_id: str
    experiment: Mapping[str, object]
    journal: JournalContents
    trials: tuple[TrialRecord, ...]
    result: Result | None
    environment: Environment | None
    focus: TrialRecord | None
    series: tuple[MetricRow, ...]
    distributions: tuple[LatencyDistribution, ...]
    gaps: tuple[LoopGaps, ...]
    spikes: tuple[Spike, ...]
    hosts: HostMetrics | None = None
    audits: tuple[AuditRecord, ...] = ()
    causes: tuple[TrialCauses, ...] = ()
    kernel_events: Mapping[int, Sequence[KeptEvent]] = field(default_factory=dict)

    @property
    def criteria_kinds(self) -> frozenset[str]:
        """The kinds of the criteria in force; empty when neither result nor experiment says."""
        criteria = self.result.criteria if self.result else self.experiment.get("criteria")
        entries = criteria if isinstance(criteria, list | tuple) else ()
        return frozenset(str(entry.get("kind")) for entry in entries if isinstance(entry, dict))

    @property
    def observed(self) -> tuple[ObservedTrial, ...]:
        """The focus trial with the hosts observed during it; none before any."""
        return only_trial(self.focus, self.hosts)

    @property
    def latency_clocks(self) -> Mapping[int, str]:
        """What stamps the frames that come into each of the tester's ports: tsc or hardware."""
        ports = [port for event in self.journal.of_kind(LAB_UP) for port in _ports_of(event)]
        return {port["port"]: port["latency_clock"] for port in ports}

    @property
    def began(self) -> datetime | None:
        """When the run began; None before its first event."""
        if not self.journal.events:
            return None
        return datetime.fromtimestamp(self.journal.events[0].at_unix_ns / _NS_PER_S, UTC)

    @property
    def finished(self) -> bool:
        """Whether the run came to its end, with or without a load line."""
        return bool(self.journal.of_kind(FINISHED))

    @property
    def single(self) -> bool:
        """Whether it is a `plimsoll trial`: one trial, no search and no load line to come."""
        started = self.journal.of_kind(TRIAL_STARTED)
        phases = [trial.phase for trial in self.trials]
        return "single" in phases or any(e.fields.get("phase") == "single" for e in started)

    @property
    def failures(self) -> tuple[str, ...]:
        """What died during the run, in the journal's words."""
        return self.journal.failures


def load_run(run: RunDirectory, types: Sequence[str] = ()) -> RunData:
    """Load all that the report shows, of metrics the rows of these types.

    Raises RecordError when the record is damaged.
    """
    journal = read_journal(run.journal)
    trials = journal.trials()
    result = read_result(run)
    focus = focus_trial(trials, result)
    merged = _histograms(run, journal, focus)
    environment = load_environment(run.environment)
    causes = read_causes(run)
    return RunData(
        run_id=run.run_id,
        experiment=run.read_experiment(),
        journal=journal,
        trials=trials,
        result=result,
        environment=environment,
        focus=focus,
        series=_series(run, focus, types),
        distributions=_distributions(focus, merged),
        gaps=_gaps(focus, merged),
        spikes=tuple(read_spikes(run)),
        hosts=observed_host_figures(run, environment, focus) if focus else None,
        audits=read_audits(run),
        causes=causes,
        kernel_events={each.trial: read_kernel_events(run, each.trial) for each in causes},
    )


def focus_trial(trials: Sequence[TrialRecord], result: Result | None) -> TrialRecord | None:
    """The validation that stands behind the result; else the most telling trial so far."""
    validation = None if result is None else result.validation
    return primary_trial(trials, None if validation is None else validation.trial)


def _series(
    run: RunDirectory, focus: TrialRecord | None, types: Sequence[str]
) -> tuple[MetricRow, ...]:
    """The focus trial's rows up to its last send: the drain after it is not its rate.

    Losses are kept beyond: those of the last frames sent show in the drain.
    """
    if focus is None or not types:
        return ()
    rows = read_metrics(
        run, periods=[trial_period(focus.number)], types=types, without_damaged=True
    )
    return tuple(row for row in rows if row.type == LOST_TYPE or before_drain(row, focus))


def before_drain(row: MetricRow, trial: TrialRecord) -> bool:
    """Whether a row is of the time up to the trial's last send."""
    last_send_ms = trial.begin_unix_ns / _NS_PER_MS + trial.sending_s * 1e3
    return (row.begin_ms + row.end_ms) / 2 < last_send_ms


def _ports_of(event: JournalEvent) -> list[Mapping[str, Any]]:
    """The tester's ports as a lab-up event has them; none from older runs."""
    ports = event.fields.get("ports")
    known = ports if isinstance(ports, list) else []
    return [port for port in known if isinstance(port, dict) and "latency_clock" in port]


def _histograms(
    run: RunDirectory, journal: JournalContents, focus: TrialRecord | None
) -> Mapping[str, HdrHistogram]:
    """By tag, all samples of the focus trial."""
    if focus is None:
        return {}
    time = TrialTime.in_journal(focus, journal)
    return TrialHistograms(run.histograms, time, focus, f"trial {focus.number}").by_tag()


def _distributions(
    focus: TrialRecord | None, merged: Mapping[str, HdrHistogram]
) -> tuple[LatencyDistribution, ...]:
    found = (LatencyDistribution.of(each, merged) for each in (focus.streams if focus else ()))
    return tuple(each for each in found if each is not None)


def _gaps(focus: TrialRecord | None, merged: Mapping[str, HdrHistogram]) -> tuple[LoopGaps, ...]:
    tags = {gaps_tag(worker.cpu): worker.cpu for worker in (focus.workers if focus else ())}
    return tuple(LoopGaps(cpu, merged[tag]) for tag, cpu in tags.items() if tag in merged)
