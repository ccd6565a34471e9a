"""The trial before a search that finds what the tester can offer on the DUT's own ports.

A calibration over rings says what the tester's loops can do, not what they can get into
these ports: a ring takes several times what a memif does.
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.benchmark.recorded_trial import TrialRequest, TrialRunner
from plimsoll.record.tester_diagnosis import TesterCeiling
from plimsoll.record.trial_record import TrialPhase, TrialRecord
from plimsoll.search.tester_reach import sustainable_pps
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.units import format_pps
from plimsoll.trial.tester import TesterLimits

_PHASE: TrialPhase = "ceiling"
_DURATION_S = 1.0
# What spoils a second by chance is hardly there in each of three.
_ATTEMPTS = 3


def measure_ceiling(
    runner: TrialRunner, streams: tuple[StreamPlan, ...], maximum_pps: float
) -> None:
    """Offer the search's maximum for a second; again where the tester's stalls were to blame.

    The trials are recorded, and `ceiling_of` says what they found.
    """
    limits = runner.session.experiment.tester
    for attempt in range(1, _ATTEMPTS + 1):
        request = TrialRequest(
            _PHASE, maximum_pps, _DURATION_S, streams, attempt=attempt, judged=False
        )
        trial = runner.run(request)
        if not (_fell_short(trial, limits) and _stalled(trial, limits)):
            break
    ceiling = ceiling_of(runner.session.recorder.history().trials(), limits)
    if ceiling is not None:
        runner.session.watcher.note(
            f"on these ports the tester offers {format_pps(ceiling.offered_pps)} per direction of "
            f"the search's maximum of {format_pps(maximum_pps)}: the search begins a little "
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
    return TesterCeiling(trial=best.number, asked_pps=best.load_pps, offered_pps=_offered_pps(best))


def _offered_pps(trial: TrialRecord) -> float:
    """Streams without a rate are offered what the ports take."""
    evidence = trial.evidence
    if evidence is None or evidence.offered_pps is None:
        return trial.load_pps
    return evidence.offered_pps


def _fell_short(trial: TrialRecord, limits: TesterLimits) -> bool:
    return _offered_pps(trial) < trial.load_pps * (1 - limits.rate_tolerance)


def _stalled(trial: TrialRecord, limits: TesterLimits) -> bool:
    stalled_s = max((worker.stalled_ns for worker in trial.workers), default=0) / 1e9
    return stalled_s > limits.max_stalled_share * trial.sending_s
