"""What the page of a soak shows, loaded from its run directory in any state, and its tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.methods.soak.result import SoakResult, SoakSegment
from plimsoll.methods.soak.series import (
    LOST,
    MAX,
    P50,
    P99,
    RX,
    SoakSeries,
    begins_of,
    segments_of,
    soak_series,
    windows_of,
)
from plimsoll.methods.soak.summary import read_soak_result, summarise_soak
from plimsoll.record.run.audit_record import AuditRecord, read_audits
from plimsoll.record.run.environment import load_environment
from plimsoll.record.run.journal import JournalContents, read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.finding_record import FindingRecord
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.record.trials.window_record import WindowRecord
from plimsoll.report.data.one_host import (
    ObservedTrial,
    longest_trial,
    observed_host_figures,
    only_trial,
)
from plimsoll.report.data.times import nanoseconds, slowest_cell
from plimsoll.text.units import format_duration, format_ns, format_number, format_pps, format_ratio
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


@dataclass(frozen=True, slots=True)
class WindowLine:
    """One window; its latency is that of the worst probe."""

    number: int
    begin: str
    end: str
    verdict: str
    lost: int
    loss: str
    p50: str
    p99: str
    worst: str
    stall: str
    reason: str


@dataclass(frozen=True, slots=True)
class TimedLine:
    """Something that happened at a time: how much, and what is known of it."""

    at: str
    much: str
    what: str


@dataclass(frozen=True, slots=True)
class SegmentLine:
    """One trial of a soak that was resumed."""

    trial: int
    gap: str
    length: str
    windows: int
    verdict: str
    reason: str


@dataclass(frozen=True, slots=True)
class DriftLine:
    """First against last, and the slope with its 95 % interval."""

    what: str
    first: str
    last: str
    slope: str
    text: str


def window_lines(data: SoakData) -> tuple[WindowLine, ...]:
    """All windows by time, numbered through all trials."""
    return tuple(_window(data, n, each) for n, each in enumerate(data.windows, start=1))


def loss_lines(data: SoakData) -> tuple[TimedLine, ...]:
    """The largest loss events by time."""
    return tuple(
        TimedLine(elapsed(each.at_s), f"{each.frames:,}", format_duration(each.length_s))
        for each in data.result.losses.events
    )


def spike_lines(data: SoakData) -> tuple[TimedLine, ...]:
    """The worst spikes by time."""
    return tuple(
        TimedLine(elapsed(each.at_s), format_ns(each.latency_ns), f"{each.stream}: {each.cause}")
        for each in data.result.spikes.worst
    )


def segment_lines(data: SoakData) -> tuple[SegmentLine, ...]:
    """The trials of the soak."""
    return tuple(_segment(each) for each in data.result.segments)


def drift_lines(data: SoakData) -> tuple[DriftLine, ...]:
    """Each series that was recorded."""
    lines = []
    for each in data.result.drift:
        rate = each.kind == "rate"
        show = format_pps if rate else _microseconds
        slope, low, high = (
            format_number(value) for value in (each.slope_per_hour, each.slope_low, each.slope_high)
        )
        unit = "pps" if rate else "µs"
        lines.append(
            DriftLine(
                what=f"received rate, {each.of}" if rate else f"{each.kind}, {each.of}",
                first=show(each.first),
                last=show(each.last),
                slope=f"{slope} {unit}/h ({low} to {high})",
                text=each.text,
            )
        )
    return tuple(lines)


def elapsed(at_s: float) -> str:
    """A time since the start, as h:mm:ss.s."""
    tenths = round(at_s * 10)
    hours, rest = divmod(tenths, 36_000)
    minutes, seconds = divmod(rest, 600)
    return f"{hours}:{minutes:02d}:{seconds / 10:04.1f}"


def _window(data: SoakData, number: int, window: WindowRecord) -> WindowLine:
    begin_s = data.begins_s[window.trial]
    probes = [each for each in window.streams if each.name in data.probes]
    ratios = [each.loss_ratio for each in window.streams if each.loss_ratio is not None]
    return WindowLine(
        number=number,
        begin=elapsed(begin_s + window.begin_s),
        end=elapsed(begin_s + window.end_s),
        verdict=window.verdict,
        lost=sum(each.lost for each in window.streams),
        loss=format_ratio(max(ratios, default=0.0)),
        p50=slowest_cell(probes, "p50_ns"),
        p99=slowest_cell(probes, "p99_ns"),
        worst=slowest_cell(probes, "max_ns"),
        stall=nanoseconds(window.worst_stall_ns or None),
        reason="; ".join(dict.fromkeys(each.text for each in window.reasons)),
    )


def _segment(segment: SoakSegment) -> SegmentLine:
    reasons = dict.fromkeys(each.text for each in segment.reasons)
    return SegmentLine(
        trial=segment.trial,
        gap=format_duration(segment.gap_s) if segment.gap_s else "-",
        length=format_duration(segment.sending_s),
        windows=segment.windows,
        verdict="unfinished" if segment.verdict == "none" else segment.verdict,
        reason="; ".join(reasons) or ("killed or running" if segment.verdict == "none" else ""),
    )


def _microseconds(value: float) -> str:
    return format_ns(value * 1e3)
