"""RFC 2544, all of it: the requested tests, one after the other, over all frames."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from typing import TypeVar

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.session.session import ProgressListener, versions
from plimsoll.benchmark.trial_run.steps import Steps
from plimsoll.benchmark.whole_run.method_run import run_method
from plimsoll.benchmark.whole_run.run_audits import media_of
from plimsoll.errors import InputError
from plimsoll.methods.rfc2544.back_to_back import measure_back_to_back
from plimsoll.methods.rfc2544.latency import DEFINITION, measure_latency
from plimsoll.methods.rfc2544.recovery import measure_recovery, measure_reset, why_not
from plimsoll.methods.rfc2544.result import (
    METHOD,
    ROW,
    BackToBackRow,
    FrameLossRow,
    LatencyRow,
    RecoveryRow,
    ResetStatement,
    Rfc2544Parts,
    Rfc2544Result,
    ThroughputRow,
)
from plimsoll.methods.rfc2544.settings import FrameSpec, Rfc2544Settings, Test, described_traffic
from plimsoll.methods.rfc2544.shortfalls import shortfalls
from plimsoll.methods.rfc2544.subject import (
    TestSubject,
    bounds_said,
    check_frames,
    experiment_for,
    run_over_frames,
    subject_of,
    with_ceiling,
)
from plimsoll.methods.rfc2544.throughput import measure_frame_loss, measure_throughput
from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.results.method_result import Shortfall, counts_of, invalid_reasons
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.text.units import format_pps, format_ratio
from plimsoll.traffic.imix import describe_mix

Row = TypeVar("Row", bound=RecordModel)
_NEED_THROUGHPUT: set[Test] = {"throughput", "latency", "recovery", "reset"}


def run_rfc2544(
    experiment: Experiment, settings: Rfc2544Settings, run: RunDirectory, listener: ProgressListener
) -> Rfc2544Result:
    """Run, or go on with, the tests in `run`. Raises PlimsollError for what the user can fix."""
    largest = check_rfc2544(experiment, settings)
    to_run = run_over_frames(METHOD, experiment, settings, largest, partial(shortfalls, settings))

    def execute(steps: Steps) -> Rfc2544Result:
        return _Tests(steps, experiment, settings, to_run.shortfalls).result(run)

    return run_method(to_run, run, listener, execute)


def check_rfc2544(experiment: Experiment, settings: Rfc2544Settings) -> int:
    """The largest frame of all, in bytes with FCS.

    Raises what can be known to be wrong before anything is started or written.
    """
    problem = why_not(experiment.lab, settings.reset)
    if settings.tests == ("reset",) and problem is not None:
        raise InputError(
            f"reset is {problem}", where="--tests", remedy="name other tests, or fix that"
        )
    return check_frames(experiment, settings)


class _Tests:
    """The tests of one run on one test bed, in the standard's order."""

    def __init__(
        self,
        steps: Steps,
        experiment: Experiment,
        settings: Rfc2544Settings,
        shortfalls: tuple[Shortfall, ...],
    ) -> None:
        self._steps = steps
        self._shortfalls = shortfalls
        self._experiment = experiment
        self._settings = settings

    def result(self, run: RunDirectory) -> Rfc2544Result:
        """Run the requested tests and return the result."""
        throughput = self._throughput
        parts = Rfc2544Parts(
            throughput=throughput if "throughput" in self._settings.tests else None,
            latency=self._rows("latency", self._latency),
            frame_loss=self._rows("frame-loss", self._frame_loss),
            back_to_back=self._rows("back-to-back", self._back_to_back),
            recovery=self._rows("recovery", self._recovery),
            reset=self._reset(),
        )
        trials = self._steps.session.recorder.history().trials()
        return Rfc2544Result(
            run_id=run.run_id,
            name=self._experiment.name,
            quick=self._settings.quick,
            shortfalls=self._shortfalls,
            notes=(*self._steps.bed.ports.notes, *self._notes()),
            trials=counts_of(trials),
            invalid_reasons=invalid_reasons(trials),
            versions=versions(self._steps.bed.generator.facts),
            traffic=described_traffic(self._experiment.profile),
            media=media_of(self._steps.bed),
            directions=self._directions,
            latency_definition=DEFINITION,
            parts=parts,
        )

    @cached_property
    def _subjects(self) -> tuple[TestSubject, ...]:
        return tuple(self._subject(frames) for frames in self._settings.frames)

    def _subject(self, frames: FrameSpec) -> TestSubject:
        settings = self._settings
        derived = experiment_for(self._experiment, frames, settings)
        subject = subject_of(frames, derived, self._steps.bed, settings.maximum)
        return with_ceiling(self._steps, subject)

    @cached_property
    def _throughput(self) -> tuple[ThroughputRow, ...]:
        """Of every kind of frames, where it is requested or another test builds on it."""
        if not _NEED_THROUGHPUT & set(self._settings.tests):
            return ()
        return tuple(self._recorded("throughput", self._throughput_of(s)) for s in self._subjects)

    def _throughput_of(self, subject: TestSubject) -> ThroughputRow:
        settings = self._settings.throughput
        experiment = experiment_for(
            self._experiment, subject.frames, self._settings, settings.loss_ratio
        )
        return measure_throughput(self._steps, replace(subject, experiment=experiment), settings)

    def _latency(self, number: int, subject: TestSubject) -> LatencyRow:
        return measure_latency(
            self._steps, subject, self._settings.latency, self._throughput[number]
        )

    def _frame_loss(self, _: int, subject: TestSubject) -> FrameLossRow:
        return measure_frame_loss(self._steps, subject, self._settings.frame_loss)

    def _back_to_back(self, _: int, subject: TestSubject) -> BackToBackRow:
        return measure_back_to_back(self._steps, subject, self._settings.back_to_back)

    def _recovery(self, number: int, subject: TestSubject) -> RecoveryRow:
        return measure_recovery(
            self._steps, subject, self._settings.recovery, self._throughput[number]
        )

    def _reset(self) -> tuple[ResetStatement, ...] | None:
        """With the smallest frames (section 26.6)."""
        if "reset" not in self._settings.tests:
            return None
        number, subject = min(
            enumerate(self._subjects), key=lambda each: each[1].record.mean_frame_size
        )
        statement = measure_reset(
            self._steps, subject, self._settings.reset, self._throughput[number]
        )
        return (self._recorded("reset", statement),)

    def _rows(
        self, test: Test, measure: Callable[[int, TestSubject], Row]
    ) -> tuple[Row, ...] | None:
        """A row for each kind of frames; None where the test was not requested."""
        if test not in self._settings.tests:
            return None
        return tuple(
            self._recorded(test, measure(number, subject))
            for number, subject in enumerate(self._subjects)
        )

    def _recorded(self, test: Test, row: Row) -> Row:
        """The row, journalled, so that the report of a running run can show it."""
        self._steps.session.recorder.event(ROW, test=test, row=row.model_dump(mode="json"))
        return row

    @property
    def _directions(self) -> int:
        subject = self._subjects[0]
        return len({(s.tx_port, s.rx_port) for s in subject.streams(subject.maximum_pps)})

    def _notes(self) -> Iterator[str]:
        for subject in self._subjects:
            yield from bounds_said(subject)
        if self._subjects[0].basis == "stated":
            yield (
                "The lab has no line rate, so there is no theoretical maximum: 100 % is the "
                f"stated {format_pps(self._subjects[0].maximum_pps)} per direction, at which "
                "back-to-back bursts are sent, too."
            )
        if loss_ratio := self._settings.throughput.loss_ratio:
            yield (
                f"The throughput is that at which at most {format_ratio(loss_ratio)} was lost; "
                "RFC 2544 allows no loss."
            )
        if self._settings.imix is not None:
            sizes = self._subjects[0].experiment.profile.load_streams[0].sizes
            yield f"Frames are a mix: {describe_mix(sizes)}."
