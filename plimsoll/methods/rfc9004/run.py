"""RFC 9004: back-to-back bursts of the frame sizes that can fill the DUT's buffers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.session.session import ProgressListener, versions
from plimsoll.benchmark.trial_run.steps import Steps
from plimsoll.benchmark.whole_run.method_run import run_method
from plimsoll.benchmark.whole_run.run_audits import media_of
from plimsoll.methods.rfc2544.back_to_back import measure_back_to_back
from plimsoll.methods.rfc2544.result import BackToBackRow, ThroughputRow
from plimsoll.methods.rfc2544.settings import FrameSpec, described_traffic
from plimsoll.methods.rfc2544.shortfalls import (
    shortfalls_of_repeats,
    shortfalls_of_throughput,
    shortfalls_of_trials,
)
from plimsoll.methods.rfc2544.subject import (
    TestSubject,
    bounds_said,
    check_frames,
    experiment_for,
    run_over_frames,
    subject_of,
    with_ceiling,
)
from plimsoll.methods.rfc2544.throughput import measure_throughput
from plimsoll.methods.rfc9004.result import METHOD, ROW, BufferRow, Rfc9004Result
from plimsoll.methods.rfc9004.settings import Rfc9004Settings
from plimsoll.record.results.method_result import Shortfall, counts_of, invalid_reasons
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_record import whole_verdict
from plimsoll.text.units import format_pps

# "Results reported at or near the configured upper limit are likely invalid."
_NEAR_LIMIT = 0.95


def run_rfc9004(
    experiment: Experiment, settings: Rfc9004Settings, run: RunDirectory, listener: ProgressListener
) -> Rfc9004Result:
    """Run, or go on with, the test in `run`. Raises PlimsollError for what the user can fix."""
    largest = check_frames(experiment, settings)
    to_run = run_over_frames(METHOD, experiment, settings, largest, partial(shortfalls, settings))

    def execute(steps: Steps) -> Rfc9004Result:
        return _result(steps, experiment, settings, run)

    return run_method(to_run, run, listener, execute)


def _result(
    steps: Steps, experiment: Experiment, settings: Rfc9004Settings, run: RunDirectory
) -> Rfc9004Result:
    subjects = [_subject(steps, experiment, frames, settings) for frames in settings.frames]
    rows = tuple(_row(steps, subject, settings) for subject in subjects)
    trials = steps.session.recorder.history().trials()
    first = subjects[0]
    directions = {(s.tx_port, s.rx_port) for s in first.streams(first.maximum_pps)}
    return Rfc9004Result(
        run_id=run.run_id,
        name=experiment.name,
        quick=settings.quick,
        shortfalls=shortfalls(settings, first.experiment.trial.drain),
        notes=(*steps.bed.ports.notes, *chain(*map(bounds_said, subjects)), *_notes(first)),
        trials=counts_of(trials),
        invalid_reasons=invalid_reasons(trials),
        versions=versions(steps.bed.generator.facts),
        traffic=described_traffic(experiment.profile),
        media=media_of(steps.bed),
        directions=len(directions),
        repetitions=settings.bursts.repeats,
        rows=rows,
    )


def _subject(
    steps: Steps, experiment: Experiment, frames: FrameSpec, settings: Rfc9004Settings
) -> TestSubject:
    derived = experiment_for(experiment, frames, settings)
    return with_ceiling(steps, subject_of(frames, derived, steps.bed, settings.maximum))


def _row(steps: Steps, subject: TestSubject, settings: Rfc9004Settings) -> BufferRow:
    throughput = measure_throughput(steps, subject, settings.throughput)
    problem = why_not(throughput)
    bursts = None if problem else measure_back_to_back(steps, subject, settings.bursts)
    row = buffer_row(throughput, bursts, problem)
    steps.session.recorder.event(ROW, row=row.model_dump(mode="json"))
    return row


def why_not(throughput: ThroughputRow) -> str | None:
    """Why bursts of this size say nothing of the DUT's buffers; None where they may."""
    if throughput.pps is None:
        return f"no throughput is known: {throughput.reason}"
    intended_pps = throughput.intended_pps or throughput.pps
    if intended_pps >= throughput.subject.maximum_pps:
        return "the throughput is the maximum frame rate: no burst can fill a buffer"
    return None


def buffer_row(
    throughput: ThroughputRow, bursts: BackToBackRow | None, problem: str | None
) -> BufferRow:
    """The buffer time that the bursts imply, and the same without what was forwarded within."""
    if bursts is None or bursts.frames is None or throughput.pps is None:
        return BufferRow(
            throughput=throughput,
            bursts=None,
            implied_s=None,
            corrected_s=None,
            valid=False,
            reason=problem or (bursts.reason if bursts else None),
            verdict=whole_verdict([throughput.verdict, bursts.verdict if bursts else None]),
        )
    maximum_pps = throughput.subject.maximum_pps
    implied_s = bursts.frames.mean / maximum_pps
    too_long = bursts.at_limit > 0 or bursts.frames.maximum >= _NEAR_LIMIT * bursts.limit_frames
    return BufferRow(
        throughput=throughput,
        bursts=bursts,
        implied_s=implied_s,
        corrected_s=implied_s - implied_s * throughput.pps / maximum_pps,
        valid=not too_long,
        reason=_too_long(bursts) if too_long else None,
        verdict="invalid" if too_long else "none",
    )


def _too_long(bursts: BackToBackRow) -> str:
    return (
        f"bursts are at or near the limit of {bursts.limit_frames:,} frames, or of what the "
        "tester could send in one: repeat the test with a higher --burst-limit"
    )


def shortfalls(settings: Rfc9004Settings, drain_s: float) -> tuple[Shortfall, ...]:
    """What falls short of RFC 2544, on which this test builds; `drain_s` is as trials have it."""
    return (
        *shortfalls_of_trials(settings, drain_s),
        *shortfalls_of_throughput(settings),
        *shortfalls_of_repeats(settings.bursts),
    )


def _notes(subject: TestSubject) -> Iterator[str]:
    if subject.basis == "stated":
        yield (
            "The lab has no line rate, so the RFC's maximum theoretical frame rate is not "
            f"known: the stated {format_pps(subject.maximum_pps)} per direction, at which the "
            "bursts were sent, stands in its place, and buffer times are in frames at that rate."
        )
    yield (
        "The search is the binary search of ETSI GS NFV-TST 009 with loss verification, over "
        "the length of bursts; throughput and bursts had the same streams."
    )
