"""A trial of an opened run: what it found, its histograms and its metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Self

from plimsoll.analysis.measured import Measured
from plimsoll.analysis.metric_rows import MetricRows, NamesAs, Texts, row_selection
from plimsoll.analysis.shown import html_facts, html_note, shown
from plimsoll.analysis.table import PlainTable
from plimsoll.analysis.trial_histograms import TimeHistogram, TrialHistograms, TrialTime
from plimsoll.analysis.trial_tables import spike_table, stream_table
from plimsoll.analysis.when import When, utc_of_ns
from plimsoll.record.causes.spikes import read_spikes
from plimsoll.record.metrics.histogram_log import StreamKind
from plimsoll.record.metrics.metrics import query_metrics
from plimsoll.record.run.file_check import require_intact
from plimsoll.record.run.journal import JournalEvent
from plimsoll.record.run.run_directory import RunDirectory, trial_period
from plimsoll.record.trials.clock_fit import ClockStep
from plimsoll.record.trials.finding_record import FindingRecord
from plimsoll.record.trials.stream_record import StreamRecord
from plimsoll.record.trials.trial_record import TrialRecord, Verdict
from plimsoll.text.units import format_duration, format_pps

_NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class TrialStart:
    """What a run tells of a trial before its end.

    `begin_unix_ns` is when its first frame was sent; of a trial that has not ended, when the
    journal says that it was started.
    """

    number: int
    phase: str
    load_pps: float
    attempt: int
    planned_s: float
    begin_unix_ns: int
    ended: bool

    @classmethod
    def of_record(cls, record: TrialRecord) -> Self:
        """Of a trial that ended."""
        return cls(
            number=record.number,
            phase=record.phase,
            load_pps=record.load_pps,
            attempt=record.attempt,
            planned_s=record.planned_s,
            begin_unix_ns=record.begin_unix_ns,
            ended=True,
        )

    @classmethod
    def of_event(cls, event: JournalEvent) -> Self | None:
        """Of one that was started; None where the event does not say enough."""
        fields = event.fields
        number, phase, attempt = fields.get("number"), fields.get("phase"), fields.get("attempt")
        load_pps, planned_s = fields.get("load_pps"), fields.get("planned_s")
        if not isinstance(number, int) or not isinstance(phase, str):
            return None
        if not isinstance(load_pps, int | float) or not isinstance(planned_s, int | float):
            return None
        return cls(
            number=number,
            phase=phase,
            load_pps=load_pps,
            attempt=attempt if isinstance(attempt, int) else 1,
            planned_s=planned_s,
            begin_unix_ns=event.at_unix_ns,
            ended=False,
        )


class TrialBegins:
    """When the trials of a run began.

    Those that have not ended began with their first metrics, where there are any: the journal
    tells of them a little early, and of simulated ones in another time.
    """

    def __init__(self, run: RunDirectory, starts: Mapping[int, TrialStart]) -> None:
        """`starts` are all of the run, by number."""
        self._run = run
        self._starts = starts

    @cached_property
    def unix_ns(self) -> Mapping[int, int]:
        """By number. Raises RecordError."""
        begins = {number: start.begin_unix_ns for number, start in self._starts.items()}
        numbers = {trial_period(n): n for n, start in self._starts.items() if not start.ended}
        if numbers:
            statement = "SELECT period, min(begin_ms) FROM rows GROUP BY period"
            for period, begin_ms in query_metrics(self._run, statement, periods=list(numbers)):
                begins[numbers[period]] = begin_ms * _NS_PER_MS
        return begins


class Trial(Measured):
    """One trial. Of one that is going on, or was cut short, there is a start but no `record`.

    `load_pps` is per direction. `record` has everything the trial found; its times are in
    ns, UTC since the epoch.
    """

    def __init__(
        self,
        run: RunDirectory,
        start: TrialStart,
        record: TrialRecord | None,
        begins: TrialBegins,
    ) -> None:
        """`begins` are those of all trials of the run."""
        self._run = run
        self._start = start
        self._begins = begins
        self.record = record

    @property
    def number(self) -> int:
        """Unique in its run, from 1."""
        return self._start.number

    @property
    def period(self) -> str:
        """What the metrics call it, such as trial-0007."""
        return trial_period(self.number)

    @property
    def phase(self) -> str:
        """What it was for: warmup, search, validation, soak and so on."""
        return self._start.phase

    @property
    def load_pps(self) -> float:
        """The intended load, per direction."""
        return self._start.load_pps

    @property
    def offered_pps(self) -> float | None:
        """The load that was offered, per direction.

        None as long as the trial has not ended, and where no load stream has a rate.
        """
        return self.record.offered_pps if self.record else None

    @property
    def attempt(self) -> int:
        """Counts the trials at this load in a row, from 1."""
        return self._start.attempt

    @property
    def planned_s(self) -> float:
        """How long it was to send."""
        return self._start.planned_s

    @property
    def sending_s(self) -> float | None:
        """How long it sent; None as long as it has not ended."""
        return self.record.sending_s if self.record else None

    @property
    def verdict(self) -> Verdict | None:
        """None as long as it has not ended; "none" of a trial that is not judged."""
        return self.record.verdict if self.record else None

    @property
    def findings(self) -> tuple[FindingRecord, ...]:
        """Every rule that was applied, with what it measured."""
        return self.record.findings if self.record else ()

    @property
    def reasons(self) -> tuple[FindingRecord, ...]:
        """The findings that made the verdict fail or invalid."""
        return self.record.reasons if self.record else ()

    @property
    def streams(self) -> tuple[StreamRecord, ...]:
        """Each stream's totals and latency quantiles; none as long as it has not ended."""
        return self.record.streams if self.record else ()

    @property
    def begin(self) -> datetime:
        """When its first frame was sent, in UTC; or of one that has not ended, about then."""
        return utc_of_ns(self._begins.unix_ns[self.number])

    @property
    def end(self) -> datetime | None:
        """When its last frame was sent, in UTC; None as long as it has not ended."""
        if self.record is None:
            return None
        return self.begin + timedelta(seconds=self.record.sending_s)

    @property
    def offered(self) -> tuple[datetime, datetime] | None:
        """From when to when it offered frames, in UTC: rates of rows are to be taken over this.

        The rows of the drain lie after it. None as long as it has not ended, and of records of
        earlier versions.
        """
        offered = self.record.offered if self.record else None
        if offered is None:
            return None
        return utc_of_ns(offered.begin_unix_ns), utc_of_ns(offered.end_unix_ns)

    @property
    def clock_steps(self) -> tuple[ClockStep, ...]:
        """When and by how much the wall clock was set during it; its times go on as before.

        None as long as it has not ended, and of records of earlier versions.
        """
        return self.record.clock_steps if self.record else ()

    def rows(
        self,
        *,
        source: Texts = None,
        type: Texts = None,
        begin: When | None = None,
        end: When | None = None,
        names_as: NamesAs = "columns",
    ) -> MetricRows:
        """The trial's metrics as recorded; `Run.rows` says more."""
        selection = row_selection(
            source=source, type=type, periods=self.period, begin=begin, end=end
        )
        return MetricRows(self._run, selection, names_as)

    def latency(self, stream: str | None = None, *, kind: StreamKind = "latency") -> TimeHistogram:
        """The round trips of one stream, by its name; or of all latency streams together.

        In ns. Round trips that stalls of the tester may have made longer are not in it, but as
        measured in that of `kind` "across-stalls", and less the most by which they may in
        "less-stalls", which records of earlier versions lack; "lateness" is how late each probe
        was sent. Raises InputError for an unknown stream, and RecordError where the log is
        damaged.
        """
        return self._histograms.of_streams(stream, kind)

    def gaps(self, lcore: int | None = None) -> TimeHistogram:
        """The gaps, in ns, of the polling loop on the CPU `lcore`; or of all loops together.

        Raises InputError where none ran there, and RecordError where the log is damaged.
        """
        return self._histograms.of_gaps(lcore)

    def spikes(self) -> PlainTable:
        """The trial's longest stalls and worst latencies. Raises RecordError."""
        require_intact(self._run, "spikes.parquet")
        mine = (spike for spike in read_spikes(self._run) if spike.trial == self.number)
        return spike_table(f"Spikes of trial {self.number}", mine)

    def stream_table(self) -> PlainTable:
        """A row for each stream: what it sent and lost, and its latency quantiles in ns."""
        records = [self.record] if self.record else []
        return stream_table(f"Streams of trial {self.number}", records)

    def __repr__(self) -> str:
        facts = ", ".join(text for _, text in self._facts())
        return f"<trial {self.number} of {shown(self._run.run_id)}: {facts}>"

    def _repr_html_(self) -> str:
        caption = f"Trial {self.number} of {self._run.run_id}"
        reasons = "".join(html_note(finding.text) for finding in self.reasons)
        return html_facts(caption, self._facts()) + reasons

    def _measured_runs(self) -> Mapping[str, RunDirectory]:
        return {self._run.run_id: self._run}

    @property
    def _own_period(self) -> str:
        return self.period

    def _facts(self) -> list[tuple[str, str]]:
        load = f"{format_pps(self.load_pps)} per direction"
        if self.record is None:
            length = f"not ended, {format_duration(self.planned_s)} planned"
        else:
            length = format_duration(self.record.sending_s)
        facts = [("phase", self.phase), ("load", load), ("sent for", length)]
        if self.verdict not in (None, "none"):
            facts.append(("verdict", str(self.verdict)))
        return facts

    @property
    def _histograms(self) -> TrialHistograms:
        time = TrialTime.of(self.number, self._begins.unix_ns)
        trial = f"trial {self.number}"
        return TrialHistograms(self._run.histograms, time, self.record, trial)
