"""What the page of a soak shows, loaded from its run directory in any state, and its tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.methods.soak.result import SeriesDrift, SoakResult, SoakSegment
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
from plimsoll.report.figures.table import (
    Cell,
    Cells,
    ReportColumn,
    ReportTable,
    count,
    filed,
    ns,
    ns_between,
    number,
    ratio,
    seconds,
    sentence,
    text,
    verdict_cell,
)
from plimsoll.text.units import format_ns, format_number, format_pps
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


def windows_table(data: SoakData) -> ReportTable:
    """All windows by time, numbered through all trials; latency is that of the worst probe."""
    columns = (
        count("window", "Window"),
        number("begin_s", "From", elapsed),
        number("end_s", "To", elapsed),
        text("verdict", "Verdict"),
        count("lost_frames", "Lost"),
        ratio("loss_ratio", "Loss"),
        ns_between("p50_ns", "p50"),
        ns_between("p99_ns", "p99"),
        ns_between("max_ns", "max"),
        number("longest_stall_ns", "Longest tester stall", nanoseconds),
        sentence("reason", "Reason"),
    )
    rows = tuple(_window(data, n, each) for n, each in enumerate(data.windows, start=1))
    return ReportTable("windows", columns, rows, "Windows")


def losses_table(data: SoakData) -> ReportTable:
    """The largest loss events by time."""
    columns = (_AT, count("frames", "Frames"), seconds("within_s", "Within"))
    rows = tuple((each.at_s, each.frames, each.length_s) for each in data.result.losses.events)
    return ReportTable("losses", columns, rows, "Losses", style="", narrow=True)


def spikes_table(data: SoakData) -> ReportTable:
    """The worst spikes by time."""
    columns = (
        _AT,
        ns("latency_ns", "Latency"),
        ReportColumn(("stream", "cause"), "Stream and cause", "{}: {}".format, number=False),
    )
    rows = tuple(
        (each.at_s, each.latency_ns, Cell((each.stream, each.cause)))
        for each in data.result.spikes.worst
    )
    return ReportTable("spikes", columns, rows, "Latency spikes", style="", narrow=True)


def segments_table(data: SoakData) -> ReportTable:
    """The trials of the soak, of which one that was resumed has several."""
    columns = (
        ReportColumn(("trial",), "Trial"),
        seconds("gap_s", "Gap before"),
        seconds("sending_s", "Length"),
        count("windows", "Windows"),
        text("verdict", "Verdict on the whole"),
        sentence("reason", "Reason"),
    )
    rows = tuple(_segment(each) for each in data.result.segments)
    return ReportTable("segments", columns, rows, "Segments")


def drift_table(data: SoakData) -> ReportTable:
    """Of each series first against last, and the slope with its 95 % interval."""
    columns = (
        text("series", "Series"),
        ReportColumn(("first",), "First"),
        ReportColumn(("last",), "Last"),
        ReportColumn(("slope_per_hour", "slope_low", "slope_high"), "Slope"),
        filed("unit"),
        filed("text"),
    )
    rows = tuple(_drift(each) for each in data.result.drift)
    return ReportTable("drift", columns, rows, "Drift")


def _drift(each: SeriesDrift) -> Cells:
    rate = each.kind == "rate"
    show = format_pps if rate else _microseconds
    unit = "pps" if rate else "µs"
    slopes = (each.slope_per_hour, each.slope_low, each.slope_high)
    slope, low, high = map(format_number, slopes)
    return (
        f"received rate, {each.of}" if rate else f"{each.kind}, {each.of}",
        Cell((each.first,), show(each.first)),
        Cell((each.last,), show(each.last)),
        Cell(slopes, f"{slope} {unit}/h ({low} to {high})"),
        unit,
        each.text,
    )


def elapsed(at_s: float) -> str:
    """A time since the start, as h:mm:ss.s."""
    tenths = round(at_s * 10)
    hours, rest = divmod(tenths, 36_000)
    minutes, seconds = divmod(rest, 600)
    return f"{hours}:{minutes:02d}:{seconds / 10:04.1f}"


_AT = number("at_s", "Into the soak", elapsed)


def _window(data: SoakData, number: int, window: WindowRecord) -> Cells:
    begin_s = data.begins_s[window.trial]
    probes = [each for each in window.streams if each.name in data.probes]
    ratios = [each.loss_ratio for each in window.streams if each.loss_ratio is not None]
    return (
        number,
        begin_s + window.begin_s,
        begin_s + window.end_s,
        verdict_cell(window.verdict),
        sum(each.lost for each in window.streams),
        max(ratios, default=0.0),
        slowest_cell(probes, "p50_ns"),
        slowest_cell(probes, "p99_ns"),
        slowest_cell(probes, "max_ns"),
        window.worst_stall_ns or None,
        "; ".join(dict.fromkeys(each.text for each in window.reasons)),
    )


def _segment(segment: SoakSegment) -> Cells:
    reasons = dict.fromkeys(each.text for each in segment.reasons)
    return (
        segment.trial,
        segment.gap_s or None,
        segment.sending_s,
        segment.windows,
        verdict_cell("unfinished" if segment.verdict == "none" else segment.verdict),
        "; ".join(reasons) or ("killed or running" if segment.verdict == "none" else ""),
    )


def _microseconds(value: float) -> str:
    return format_ns(value * 1e3)
