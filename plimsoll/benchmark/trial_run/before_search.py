"""The trials before a search: at the lowest load, and at the highest that the tester can offer.

The trial before a search that finds what the tester can offer on the DUT's own ports. A
calibration over rings says what the tester's loops can do, not what they can get into these ports:
a ring takes several times what a memif does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.testbed.testbed import Testbed
from plimsoll.benchmark.trial_run.steps import Steps
from plimsoll.benchmark.trial_run.trial_runner import TrialRequest, TrialRunner
from plimsoll.errors import MachineError
from plimsoll.record.results.result import TesterCeiling
from plimsoll.record.trials.trial_parts import TrialPhase
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.search.strategy.question import sustainable_pps
from plimsoll.search.text.wire import max_pps
from plimsoll.text.units import format_pps
from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.judging.tester import TesterLimits

# A machine that spoils so many trials in a row at next to no load cannot test anything.
MAX_BASELINE_TRIALS = 5


def measure_baseline(
    runner: TrialRunner, streams: tuple[StreamPlan, ...], load_pps: float
) -> TrialRecord:
    """Run trials of `streams` until the tester was fit in one. Raises MachineError."""
    duration_s = runner.session.experiment.trial.baseline
    for attempt in range(1, MAX_BASELINE_TRIALS + 1):
        request = TrialRequest(
            "baseline", load_pps, duration_s, streams, attempt=attempt, tester_only=True
        )
        record = runner.run(request)
        if record.verdict == "pass":
            return record
    raise MachineError(
        f"the tester was not fit in any of {MAX_BASELINE_TRIALS} trials at the lowest load: "
        f"{record.reasons[0].text}",
        where="search.minimum",
        remedy="give the tester quieter CPUs, or criteria that are not multiples of a baseline",
    )


def needs_baseline(experiment: Experiment) -> bool:
    """Whether any goal has a criterion that is a multiple of the latency at the lowest load."""
    return any(each.needs_baseline for goal in experiment.goals.values() for each in goal)


def has_baseline(trials: Iterable[TrialRecord]) -> bool:
    """Whether an earlier session has measured it."""
    return any(trial.phase == "baseline" and trial.verdict == "pass" for trial in trials)


_PHASE: TrialPhase = "ceiling"
CEILING_TRIAL_S = 1.0
# What spoils a second by chance is hardly there in each of three.
MAX_CEILING_TRIALS = 3


def may_fall_short(experiment: Experiment, bed: Testbed, maximum_pps: float) -> bool:
    """Whether it is worth measuring: a simulated tester offers what its line takes."""
    line_bps = bed.line_rate_bps
    if not experiment.effective_generator.capabilities.simulated or line_bps is None:
        return True
    return maximum_pps > max_pps(experiment.profile.mean_frame_size, line_bps)


def measure_ceiling(
    runner: TrialRunner, streams: tuple[StreamPlan, ...], maximum_pps: float
) -> None:
    """Offer the search's maximum for a second; again where the tester's stalls were to blame.

    The trials are recorded, and `ceiling_of` says what they found.
    """
    limits = runner.session.experiment.tester
    for attempt in range(1, MAX_CEILING_TRIALS + 1):
        request = TrialRequest(
            _PHASE, maximum_pps, CEILING_TRIAL_S, streams, attempt=attempt, judged=False
        )
        trial = runner.run(request)
        if not _unlucky(trial, limits):
            break
    ceiling = ceiling_of(runner.session.recorder.history().trials(), limits)
    if ceiling is not None:
        runner.session.listener.note(ceiling_said(ceiling))


def step_ceiling(
    steps: Steps,
    experiment: Experiment,
    streams: tuple[StreamPlan, ...],
    maximum_pps: float,
    name: str,
) -> TesterCeiling | None:
    """The same before a search that is part of a standard test, of the frames called `name`.

    Its trials are steps, so that a running run keeps what was measured. None where the
    tester offers the maximum.
    """
    if not may_fall_short(experiment, steps.bed, maximum_pps):
        return None
    trials: list[TrialRecord] = []
    for attempt in range(1, MAX_CEILING_TRIALS + 1):
        request = TrialRequest(
            _PHASE,
            maximum_pps,
            CEILING_TRIAL_S,
            streams,
            attempt=attempt,
            judged=False,
            step=f"{_PHASE}/{name}/{attempt}",
        )
        trials.append(steps.once(experiment, request))
        if not _unlucky(trials[-1], experiment.tester):
            break
    ceiling = ceiling_of(trials, experiment.tester)
    if ceiling is not None:
        steps.session.listener.note(f"{name}: {ceiling_said(ceiling)}")
    return ceiling


def ceiling_said(ceiling: TesterCeiling) -> str:
    """What was found, and what follows from it, in a sentence."""
    return (
        f"on these ports the tester offers {format_pps(ceiling.offered_pps)} per direction of "
        f"the search's maximum of {format_pps(ceiling.intended_pps)}: the search begins a little "
        f"below, at {format_pps(sustainable_pps(ceiling.offered_pps))}"
    )


def has_ceiling(trials: Sequence[TrialRecord]) -> bool:
    """Whether an earlier session of the run has measured it."""
    return any(trial.phase == _PHASE for trial in trials)


def ceiling_of(trials: Sequence[TrialRecord], limits: TesterLimits) -> TesterCeiling | None:
    """By the ceiling trial that offered most; None where that is the maximum, or none was run."""
    best = max((each for each in trials if each.phase == _PHASE), key=_offered_pps, default=None)
    if best is None or not _fell_short(best, limits):
        return None
    return TesterCeiling(
        trial=best.number, intended_pps=best.load_pps, offered_pps=_offered_pps(best)
    )


def _offered_pps(trial: TrialRecord) -> float:
    """Streams without a rate are offered what the ports take."""
    evidence = trial.evidence
    if evidence is None or evidence.offered_pps is None:
        return trial.load_pps
    return evidence.offered_pps


def _fell_short(trial: TrialRecord, limits: TesterLimits) -> bool:
    return _offered_pps(trial) < trial.load_pps * (1 - limits.offered_tolerance)


def _unlucky(trial: TrialRecord, limits: TesterLimits) -> bool:
    """Whether what it fell short by may be no more than the tester's stalls in that second."""
    return _fell_short(trial, limits) and _stalled(trial, limits)


def _stalled(trial: TrialRecord, limits: TesterLimits) -> bool:
    stalled_s = max((worker.stalled_ns for worker in trial.workers), default=0) / 1e9
    return stalled_s > limits.max_stalled_share * trial.sending_s
