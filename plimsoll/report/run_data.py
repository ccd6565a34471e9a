"""What a report shows, loaded from a run directory, be the run finished, killed or running."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hdrh.histogram import HdrHistogram

from plimsoll.record.environment import Environment, load_environment
from plimsoll.record.histogram_log import histogram_tag, read_histogram_log
from plimsoll.record.journal import DIED, FINISHED, JournalContents, read_journal
from plimsoll.record.metric_row import MetricRow
from plimsoll.record.metrics import read_metrics, trial_period
from plimsoll.record.result import Result, read_result
from plimsoll.record.run_directory import RunDirectory
from plimsoll.record.spikes import Spike, read_spikes
from plimsoll.record.stream_record import StreamRecord
from plimsoll.record.trial_record import TrialRecord

LOST_TYPE = "lost-rx-pps"
# The metric types that charts draw. Hours of all types would be millions of rows.
SERIES_TYPES = (
    "rx-pps",
    LOST_TYPE,
    "p50-round-trip-usec",
    "p99-round-trip-usec",
    "p99.9-round-trip-usec",
    "max-round-trip-usec",
)
_NS_PER_S = 1e9
_NS_PER_MS = 1e6
# The engine's clock and the host's may differ a little about when a trial began.
_SLACK_S = 0.2


@dataclass(frozen=True, slots=True)
class Distribution:
    """All latency samples of one stream over the trial that the charts show, in ns."""

    stream: StreamRecord
    histogram: HdrHistogram


@dataclass(frozen=True, slots=True)
class RunData:
    """One run. `focus` is the trial whose seconds the charts show; None before any trial.

    `series` (of SERIES_TYPES) and `distributions` are the focus trial's, `spikes` the whole run's.
    """

    run_id: str
    experiment: Mapping[str, object]
    journal: JournalContents
    trials: tuple[TrialRecord, ...]
    result: Result | None
    environment: Environment | None
    focus: TrialRecord | None
    series: tuple[MetricRow, ...]
    distributions: tuple[Distribution, ...]
    spikes: tuple[Spike, ...]

    @property
    def name(self) -> str:
        """The experiment's name, or the run's id where it has none."""
        return str(self.experiment.get("name") or self.run_id)

    @property
    def criteria_kinds(self) -> frozenset[str]:
        """The kinds of the criteria asked for; empty when neither result nor experiment says."""
        asked = self.result.criteria if self.result else self.experiment.get("criteria")
        entries = asked if isinstance(asked, list | tuple) else ()
        return frozenset(str(entry.get("kind")) for entry in entries if isinstance(entry, dict))

    @property
    def finished(self) -> bool:
        """Whether the run came to its end, with or without a load line."""
        return bool(self.journal.of_kind(FINISHED))

    @property
    def deaths(self) -> tuple[str, ...]:
        """What died during the run, in the journal's words."""
        return tuple(
            str(event.fields.get("what") or event.fields) for event in self.journal.of_kind(DIED)
        )


def load_run(run: RunDirectory) -> RunData:
    """Load all that the report shows. Raises RecordError when the record is damaged."""
    journal = read_journal(run.journal)
    trials = journal.trials()
    result = read_result(run.result)
    focus = _focus(trials, result)
    return RunData(
        run_id=run.run_id,
        experiment=run.read_experiment(),
        journal=journal,
        trials=trials,
        result=result,
        environment=load_environment(run.environment),
        focus=focus,
        series=_series(run, focus),
        distributions=_distributions(run, journal, focus),
        spikes=tuple(read_spikes(run)),
    )


def _focus(trials: Sequence[TrialRecord], result: Result | None) -> TrialRecord | None:
    """The validation that stands behind the result; else the most telling trial so far."""
    if result is not None and result.validation is not None:
        proof = result.validation.trial
        return next((trial for trial in trials if trial.number == proof), None)
    measured = [trial for trial in trials if trial.phase not in ("calibration", "warmup")]
    passed = [trial for trial in measured if trial.verdict == "pass"]
    validations = [trial for trial in measured if trial.phase == "validation"]
    for candidates in (validations, passed, measured):
        if candidates:
            return candidates[-1]
    return None


def _series(run: RunDirectory, focus: TrialRecord | None) -> tuple[MetricRow, ...]:
    """The focus trial's rows up to its last send: the drain after it is not its rate.

    Losses are kept beyond: those of the last frames sent show in the drain.
    """
    if focus is None:
        return ()
    last_send_ms = focus.begin_unix_ns / _NS_PER_MS + focus.sending_s * 1e3
    rows = read_metrics(run, periods=[trial_period(focus.number)], types=SERIES_TYPES)
    return tuple(
        row
        for row in rows
        if row.type == LOST_TYPE or (row.begin_ms + row.end_ms) / 2 < last_send_ms
    )


def _distributions(
    run: RunDirectory, journal: JournalContents, focus: TrialRecord | None
) -> tuple[Distribution, ...]:
    if focus is None:
        return ()
    streams = {histogram_tag(s.name, s.tx_port, s.rx_port): s for s in focus.streams}
    merged: dict[str, HdrHistogram] = {}
    begin_s = focus.begin_unix_ns / _NS_PER_S
    for logged in read_histogram_log(
        run.histograms, begin_s=begin_s - _SLACK_S, end_s=_next_begin_s(journal, focus)
    ):
        if logged.tag not in merged:
            merged[logged.tag] = logged.histogram
        else:
            merged[logged.tag].add(logged.histogram)
    return tuple(Distribution(streams[tag], merged[tag]) for tag in streams if tag in merged)


def _next_begin_s(journal: JournalContents, focus: TrialRecord) -> float:
    """When the trial after the focus began, finished or not, a little early."""
    begins = [trial.begin_unix_ns for trial in journal.trials()]
    begins += [event.at_unix_ns for event in journal.unfinished_trials()]
    later = [begin for begin in begins if begin > focus.begin_unix_ns]
    return min(later) / _NS_PER_S - _SLACK_S if later else float("inf")
