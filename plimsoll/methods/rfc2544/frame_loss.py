"""Frame loss rate, section 26.3: from the maximum down until two trials in a row lose nothing."""

from __future__ import annotations

from plimsoll.benchmark.trial_run.steps import Steps
from plimsoll.benchmark.trial_run.trial_runner import TrialRequest
from plimsoll.methods.rfc2544.result import FrameLossRow, LossPoint
from plimsoll.methods.rfc2544.settings import FrameLossSettings
from plimsoll.methods.rfc2544.subject import TestSubject
from plimsoll.record.trials.trial_record import TrialRecord

# "Until there are two successive trials in which no frames are lost."
_ENOUGH = 2
# Of floating point: 100 % is within 100 %.
_ROUNDING = 1e-9


def measure_frame_loss(
    steps: Steps, subject: TestSubject, settings: FrameLossSettings
) -> FrameLossRow:
    """Every rate down to the second in a row without loss, from the highest that can be tested.

    A rate that the tester could not offer has no loss and does not break the row.
    """
    points: list[LossPoint] = []
    free = 0
    for percent in percents_within(settings.step, subject):
        request = _request(subject, settings, percent)
        points.append(point_of(percent, steps.valid(subject.experiment, request)))
        if points[-1].lost is not None:
            free = 0 if points[-1].lost else free + 1
        if free == _ENOUGH or steps.hopeless:
            break
    return FrameLossRow(subject=subject.record, points=tuple(points), complete=free == _ENOUGH)


def percents_within(step: float, subject: TestSubject) -> list[float]:
    """Those of `percents` that are no more than the tester can offer of what may be tested."""
    most = 100 * subject.reach_pps / subject.maximum_pps * (1 + _ROUNDING)
    return [percent for percent in percents(step) if percent <= most]


def percents(step: float) -> list[float]:
    """Of the maximum: 100 first, then less by `step` (a share) each time.

    Below the last of those above zero it goes on by a tenth of the step, and once more by a
    tenth of that: a finer granularity is encouraged, and a DUT that carries less than a
    tenth of the line has its loss there.
    """
    falling = [100.0]
    for part in (1.0, 0.1, 0.01):
        width = 100 * step * part
        count = round(falling[-1] / width) - 1
        top = falling[-1]
        falling += [round(top - width * number, 9) for number in range(1, count + 1)]
    return falling


def point_of(percent: float, trial: TrialRecord) -> LossPoint:
    """What the DUT lost, and not what a stall of the tester explains."""
    valid, evidence = trial.verdict != "invalid", trial.evidence
    return LossPoint(
        percent=percent,
        load_pps=trial.load_pps,
        offered=evidence.offered if evidence else 0,
        lost=evidence.lost if valid and evidence else None,
        loss_percent=100 * evidence.loss_ratio if valid and evidence else None,
        verdict=trial.verdict,
        reason=None if valid else "; ".join(each.text for each in trial.reasons),
    )


def _request(subject: TestSubject, settings: FrameLossSettings, percent: float) -> TrialRequest:
    load_pps = subject.maximum_pps * percent / 100
    return TrialRequest(
        "frame-loss",
        load_pps,
        settings.trial_s,
        subject.streams(load_pps),
        early_abort=False,
        step=f"frame-loss/{subject.label}/{percent:g}",
    )
