"""The recorder: the one writer of a run, from its first event to its result."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from plimsoll.generator.interface import Interval, StreamCounts, TrialPlan
from plimsoll.host.processes.stop_request import uninterrupted
from plimsoll.host.wall_clock import wall_minus_monotonic_ns
from plimsoll.record.causes.causes_record import TrialCauses
from plimsoll.record.causes.kernel_events import KeptEvent, write_kernel_events
from plimsoll.record.causes.spikes import SpikeLog, attribute_spikes
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.index.summarise import note_summary
from plimsoll.record.metrics.flow_table import flow_samples, write_flows
from plimsoll.record.metrics.histogram_log import HistogramLog
from plimsoll.record.metrics.interval_samples import (
    UNKNOWN_CAPACITY,
    TesterCapacity,
    intended_samples,
    interval_samples,
    noise_samples,
    verdict_samples,
)
from plimsoll.record.metrics.metric_log import MetricLog
from plimsoll.record.metrics.metrics import MetricsWriter, convert_leftovers
from plimsoll.record.run.environment import time_since_boot
from plimsoll.record.run.file_check import SPIKES, FileChecksums
from plimsoll.record.run.journal import (
    RUN_RESUMED,
    RUN_STARTED,
    SPIKES_LEFT_OUT,
    TRIAL,
    TRIAL_STARTED,
    Journal,
    JournalContents,
    JournalFollower,
    read_journal,
)
from plimsoll.record.run.listed_files import GROWING, GROWING_FILES
from plimsoll.record.run.result_file import finish_run, restore_result
from plimsoll.record.run.run_directory import RunDirectory, trial_period
from plimsoll.record.trials.trial_parts import OFFERING_SAMPLE, OfferedRange, TrialPhase
from plimsoll.record.trials.trial_record import TrialRecord


class Recorder:
    """Writes one run. Hold it by `recording(run)`; every method raises RecordError."""

    def __init__(
        self,
        run: RunDirectory,
        journal: Journal,
        histograms: HistogramLog,
        spikes: SpikeLog,
        seals: FileChecksums,
    ) -> None:
        """Use `recording` instead, which also locks, repairs and closes."""
        self.run = run
        self._journal = journal
        self._follower = JournalFollower(run.journal)
        self._histograms = histograms
        self._spikes = spikes
        self._seals = seals

    def history(self) -> JournalContents:
        """What the journal holds so far, for a run that is resumed."""
        return self._follower.read()

    def event(self, kind: str, /, **fields: object) -> None:
        """Record that `kind` happened now; on the disk when it returns."""
        if kind == RUN_STARTED:
            fields = {**fields, GROWING: list(GROWING_FILES)}
        self._journal.append(kind, **fields)
        if kind == RUN_RESUMED:
            # Environment and audits are written anew next.
            self._seals.open(self._journal)
        if kind == RUN_STARTED:
            note_summary(self.run)

    @contextmanager
    def trial(
        self,
        plan: TrialPlan,
        *,
        number: int,
        phase: TrialPhase,
        attempt: int = 1,
        refused_is_lost: bool,
        capacity: TesterCapacity = UNKNOWN_CAPACITY,
    ) -> Iterator[TrialRecorder]:
        """Record one trial: its start now, its intervals and its end by the object given.

        Left without `end` (an exception, a kill), the trial stays unfinished and
        its series so far are kept. `number` is `history().next_trial_number()`.
        """
        self._seals.begin_period(trial_period(number))
        self._histograms.begin_trial(number)
        self._journal.append(
            TRIAL_STARTED,
            number=number,
            phase=phase,
            load_pps=plan.load_pps,
            attempt=attempt,
            planned_s=plan.duration_s,
            **time_since_boot(),
        )
        with ExitStack() as writers:
            yield TrialRecorder(
                self, plan, number, writers, refused_is_lost=refused_is_lost, capacity=capacity
            )

    def causes(self, causes: TrialCauses, events: Sequence[KeptEvent]) -> None:
        """Record what disturbed a trial that has ended, and the kernel's events around it."""
        with uninterrupted():
            self._seals.open(self._journal, (SPIKES,))
            self.wrote(causes.write(self.run))
            self.wrote(write_kernel_events(self.run, causes.trial, events))
            attribute_spikes(self.run, causes)
            self.seal()

    def finish(self, result: BaseModel) -> None:
        """Write the journal's last event, then result.json."""
        # Of a trial that counts, after which the disk failed or a kill came.
        if not self._spikes.empty:
            self._convert_spikes()
        self.seal()
        finish_run(self.run, self._journal, result)

    def wrote(self, *paths: Path) -> None:
        """Take these files into the record with the next checksums."""
        self._seals.wrote(*paths)

    def seal(self) -> None:
        """Record the checksums of the files that are complete by now."""
        self._seals.record(self._journal)

    def _interval(self, number: int, plan: TrialPlan, interval: Interval) -> None:
        self._histograms.append(plan.streams, interval)
        self._spikes.append(number, plan.streams, interval)

    def _trial_ended(self, record: TrialRecord) -> None:
        # The journal first: from here on the trial counts, whatever happens to its series.
        self._journal.append(TRIAL, trial=_plain(record))
        self._histograms.settle()
        self._spikes.settle()
        if left_out := dict(self._spikes.left_out):
            self._journal.append(SPIKES_LEFT_OUT, trial=record.number, counts=left_out)
        self._convert_spikes()

    def _convert_spikes(self) -> None:
        self._seals.open(self._journal, (SPIKES,))
        self._spikes.convert()


class TrialRecorder:
    """Records the intervals of one trial as they come, and its end."""

    def __init__(
        self,
        recorder: Recorder,
        plan: TrialPlan,
        number: int,
        writers: ExitStack,
        *,
        refused_is_lost: bool,
        capacity: TesterCapacity,
    ) -> None:
        """Use `Recorder.trial` instead."""
        self._recorder = recorder
        self._plan = plan
        self._number = number
        self._writers = writers
        self._open: list[MetricsWriter] = []
        self._metrics = self._writer(None)
        self._refused_is_lost = refused_is_lost
        self._capacity = capacity
        self._log = MetricLog(trial_period(number), wall_minus_monotonic_ns())
        self._offered: OfferedRange | None = None

    @property
    def offered(self) -> OfferedRange | None:
        """In which time the trial has offered frames so far; None before its first interval."""
        return self._offered

    def interval(self, interval: Interval) -> None:
        """Record the series, the histograms and the spikes of one interval."""
        begin_ns = interval.end_unix_ns - round((interval.end_s - interval.begin_s) * 1e9)
        samples = interval_samples(
            self._plan.streams,
            interval,
            refused_is_lost=self._refused_is_lost,
            capacity=self._capacity,
        )
        self._metrics.append(self._log.samples(samples, begin_ns, interval.end_unix_ns))
        self._offered = OfferedRange.extended(self._offered, interval)
        self._recorder._interval(self._number, self._plan, interval)

    def measured_by(self, hostname: str) -> MetricsWriter:
        """The file for what a host's observers see during this trial; once for each host."""
        return self._writer(hostname)

    def end(self, record: TrialRecord, counts: Sequence[StreamCounts] = ()) -> None:
        """Record the finished trial; it survives any kill once this returns.

        `counts` are those of its streams, for what they have by flow.
        """
        with uninterrupted():
            # Before the journal: a trial that counts has all of its flows.
            flows = write_flows(self._recorder.run, record.number, self._plan.streams, counts)
            if flows is not None:
                self._recorder.wrote(flows)
            self._recorder._trial_ended(record)
            samples = [
                *verdict_samples(self._plan.streams, record),
                *noise_samples(record),
                *flow_samples(record),
            ]
            end_ns = record.begin_unix_ns + round(record.sending_s * 1e9)
            self._metrics.append(self._log.samples(samples, record.begin_unix_ns, end_ns))
            if (offered := self._offered) is not None:
                span = (offered.begin_unix_ns, offered.end_unix_ns)
                intended = intended_samples(self._plan.streams)
                self._metrics.append(self._log.samples([OFFERING_SAMPLE, *intended], *span))
            for writer in self._open:
                writer.finish()
            self._recorder.seal()

    def _writer(self, measured_by: str | None) -> MetricsWriter:
        period = trial_period(self._number)
        writer = MetricsWriter(self._recorder.run, period, measured_by)
        self._open.append(self._writers.enter_context(writer))
        return writer


@contextmanager
def recording(run: RunDirectory) -> Iterator[Recorder]:
    """Be the run's only writer for the length of a `with`.

    Series that a killed run left behind are turned into Parquet first. Raises
    RecordError, naming the other writer's pid when there is one.
    """
    with ExitStack() as stack:
        stack.enter_context(run.lock())
        # However the block ends, once all is written and while no other process writes.
        stack.callback(note_summary, run)
        with uninterrupted():
            convert_leftovers(run)
        journal = stack.enter_context(Journal(run.journal))
        restore_result(run)
        # Before anything is written anew that has a checksum.
        seals = FileChecksums(run, read_journal(run.journal))
        # However the block ends, after all its files are closed.
        stack.callback(_seal_leftovers, run, journal, seals)
        histograms = stack.enter_context(HistogramLog(run.histograms))
        spikes = stack.enter_context(SpikeLog(run))
        _seal_leftovers(run, journal, seals)
        yield Recorder(run, journal, histograms, spikes, seals)


def _seal_leftovers(run: RunDirectory, journal: Journal, seals: FileChecksums) -> None:
    """Record what a trial has left that did not come to its end."""
    if not seals.open_periods:
        return
    with uninterrupted(), suppress(RecordError):
        convert_leftovers(run)
        seals.record(journal)


def _plain(model: BaseModel) -> Any:
    # By way of its JSON, in which a number that JSON cannot hold is null.
    return json.loads(model.model_dump_json())
