"""What the page of a soak shows, loaded from its run directory in any state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.methods.soak.result import SoakResult
from plimsoll.methods.soak.segments import begins_of, segments_of, windows_of
from plimsoll.methods.soak.series import LOST, MAX, P50, P99, RX, SoakSeries, soak_series
from plimsoll.methods.soak.summary import read_soak_result, summarise_soak
from plimsoll.record.run.audit_record import AuditRecord, read_audits
from plimsoll.record.run.environment import load_environment
from plimsoll.record.run.journal import JournalContents, read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.finding_record import FindingRecord
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.record.trials.window_record import WindowRecord
from plimsoll.report.data.host_figures import (
    ObservedTrial,
    longest_trial,
    observed_host_figures,
    only_trial,
)
from plimsoll.trial.outcome.host_metrics import HostMetrics

# More than a screen has room for; the least and the greatest of each stretch are kept.
_STRETCHES = 720


@dataclass(frozen=True, slots=True)
class SoakData:
    """A soak. `begins_s` is by trial when it began, in s since the soak's first frame.

    `criteria` are the findings on the longest trial by the experiment's criteria.
    `hosts` has the metrics of the hosts observed during the `longest` trial; None before any.
    `audits` are the hosts' at the run's start.
    """

    result: SoakResult
    journal: JournalContents
    windows: tuple[WindowRecord, ...]
    begins_s: dict[int, float]
    series: tuple[SoakSeries, ...]
    failures: tuple[str, ...]
    criteria: tuple[FindingRecord, ...]
    longest: TrialRecord | None
    hosts: HostMetrics | None
    audits: tuple[AuditRecord, ...] = ()

    @property
    def observed(self) -> tuple[ObservedTrial, ...]:
        """The longest trial with the hosts observed during it; none before any."""
        return only_trial(self.longest, self.hosts)

    @property
    def length_s(self) -> float:
        """From the first frame to the end of the last trial."""
        segments = self.result.segments
        if not segments:
            return 0.0
        return self.begins_s[segments[-1].trial] + segments[-1].sending_s

    def of(self, kind: str, names: Sequence[str] | None = None) -> list[SoakSeries]:
        """The series of a metric type, of these streams or directions (None: all)."""
        return [
            each
            for each in self.series
            if each.type == kind and (names is None or each.of in names)
        ]

    @property
    def probes(self) -> list[str]:
        """The probe streams; without one, all streams: every frame carries its time."""
        streams = {each.name: each.role for window in self.windows[:1] for each in window.streams}
        return [name for name, role in streams.items() if role == "latency"] or list(streams)


def load_soak(run: RunDirectory) -> SoakData:
    """Load all that the page shows. Raises RecordError when the record is damaged."""
    journal = read_journal(run.journal)
    segments = segments_of(journal)
    longest = longest_trial(journal.trials(), "soak")
    environment = load_environment(run.environment)
    return SoakData(
        result=read_soak_result(run) or summarise_soak(run),
        journal=journal,
        windows=windows_of(journal),
        begins_s=begins_of(segments),
        series=soak_series(run, segments, (RX, LOST, P50, P99, MAX), _STRETCHES),
        criteria=_criteria(run, longest),
        failures=journal.failures,
        longest=longest,
        hosts=observed_host_figures(run, environment, longest) if longest else None,
        audits=read_audits(run),
    )


def _criteria(run: RunDirectory, trial: TrialRecord | None) -> tuple[FindingRecord, ...]:
    """The trial's findings by the experiment's criteria; the others are checks of the tester."""
    entries = run.read_experiment().get("criteria")
    known = entries if isinstance(entries, list) else []
    kinds = frozenset(str(each.get("kind")) for each in known if isinstance(each, dict))
    return tuple(each for each in (trial.findings if trial else ()) if each.is_of(kinds))
