"""Teaching around a trial: a short trial of its own before it, and background streams in it.

None of these frames is load, probe or evidence: the trial before is discarded, and the
background streams are kept apart from all that is judged.
"""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.trial_settings import TrialSettings
from plimsoll.record.trials.trial_parts import TrialPhase
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.streams.compile import Paths
from plimsoll.traffic.teaching.teaching import (
    background_teaching,
    teaching_before,
    teaching_duration_s,
)

# Those that need no teaching: of the tester alone, and teaching itself.
_UNTAUGHT: tuple[TrialPhase, ...] = ("calibration", "teaching")
# Those that measure what a queue holds, in which every frame counts.
_ALONE: tuple[TrialPhase, ...] = (*_UNTAUGHT, "burst", "back-to-back")
# The longest that trial.catch_up may be.
_TEACHING_CATCH_UP_S = 1.0


@dataclass(frozen=True)
class TeachingTrial:
    """What is sent before a trial, `rate_pps` from the busiest port, for as long as it takes."""

    streams: tuple[StreamPlan, ...]
    duration_s: float
    rate_pps: float


def teaching_trial(experiment: Experiment, paths: Paths, phase: TrialPhase) -> TeachingTrial | None:
    """What teaches before a trial of this phase; None where no stream asks for it.

    Raises InputError for a stream that cannot be taught.
    """
    settings = experiment.trial.teaching.warmup
    if settings is None or phase in _UNTAUGHT:
        return None
    streams = teaching_before(experiment.profile, settings, paths)
    if not streams:
        return None
    return TeachingTrial(streams, teaching_duration_s(streams), _busiest_pps(streams))


def background_streams(
    experiment: Experiment, streams: tuple[StreamPlan, ...], paths: Paths, phase: TrialPhase
) -> tuple[StreamPlan, ...]:
    """The background streams that teach during a trial; empty where none of its `streams` needs it.

    Raises InputError for a stream that cannot be taught.
    """
    if phase in _ALONE:
        return ()
    settings = experiment.trial.teaching.measurement
    return background_teaching(streams, experiment.profile, settings, paths)


def settings_of(settings: TrialSettings, phase: TrialPhase) -> TrialSettings:
    """How a trial of this phase is run: what teaches is sent late rather than left out."""
    if phase != "teaching":
        return settings
    return settings.model_copy(update={"catch_up": _TEACHING_CATCH_UP_S})


def _busiest_pps(streams: tuple[StreamPlan, ...]) -> float:
    ports = {plan.tx_port for plan in streams}
    return max(
        sum(plan.rate_pps or 0.0 for plan in streams if plan.tx_port == port) for port in ports
    )
