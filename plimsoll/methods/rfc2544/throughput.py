"""Throughput and frame loss rate, sections 26.1 and 26.3."""

from __future__ import annotations

from plimsoll.benchmark.trial_run.search_trial import search_answer
from plimsoll.benchmark.trial_run.steps import Steps
from plimsoll.benchmark.trial_run.trial_runner import TrialRequest
from plimsoll.methods.rfc2544.result import FrameLossRow, LossPoint, ThroughputRow
from plimsoll.methods.rfc2544.settings import FrameLossSettings, ThroughputSettings
from plimsoll.methods.rfc2544.subject import TestSubject
from plimsoll.record.trials.trial_record import TrialRecord, Verdict
from plimsoll.search.binary.settings import BinarySettings
from plimsoll.search.strategy.ask import Ask, GoalEnd, Search
from plimsoll.search.text.wire import l1_bits
from plimsoll.text.units import Rate


def measure_throughput(
    steps: Steps, subject: TestSubject, settings: ThroughputSettings
) -> ThroughputRow:
    """Bisect between the subject's minimum and its maximum, and prove what was found."""
    search = _search(subject, settings)
    trials: list[TrialRecord] = []
    while isinstance(ask := search.ask(), Ask):
        step = f"throughput/{subject.label}/{len(trials) + 1}"
        trials.append(steps.once(subject.experiment, _request(subject, ask, step)))
        search.tell(search_answer(trials[-1]))
    return _row(subject, ask.first, trials)


def _search(subject: TestSubject, settings: ThroughputSettings) -> Search:
    search_settings = BinarySettings.model_validate(
        {
            "minimum": Rate(subject.minimum_pps, "pps"),
            "maximum": Rate(subject.highest_pps, "pps"),
            "granularity": settings.granularity,
            "duration": settings.search_s,
            "validation": {"duration": settings.final_s},
        }
    )
    reach_pps = None if subject.ceiling is None else subject.reach_pps
    return search_settings.begin(lambda _, rate: rate.value, reach_pps)


def _request(subject: TestSubject, ask: Ask, step: str) -> TrialRequest:
    return TrialRequest(
        ask.phase,
        ask.load_pps,
        ask.duration_s,
        subject.streams(ask.load_pps),
        attempt=ask.attempt,
        early_abort=ask.early_abort,
        repetition=ask.repetition,
        step=step,
    )


def _row(subject: TestSubject, end: GoalEnd, trials: list[TrialRecord]) -> ThroughputRow:
    intended_pps = end.load_line_pps
    proof = trials[-1] if intended_pps is not None else None
    offered_pps = proof.offered_pps if proof else None
    pps = intended_pps
    if intended_pps is not None and offered_pps is not None:
        # No more than it was to be: other tests go on from it, and 100 % has nothing above.
        pps = min(intended_pps, offered_pps)
    return ThroughputRow(
        subject=subject.record,
        pps=pps,
        intended_pps=intended_pps,
        percent_of_maximum=None if pps is None else 100 * pps / subject.maximum_pps,
        l1_bps=None if pps is None else pps * l1_bits(subject.experiment.profile.mean_frame_size),
        limited_by=end.limited_by,
        final_trial=proof.number if proof else None,
        final_s=proof.sending_s if proof else None,
        trials=len(trials),
        reason=end.reason if pps is None else None,
        verdict=_verdict(pps, trials),
    )


def _verdict(pps: float | None, trials: list[TrialRecord]) -> Verdict:
    """A search that the tester ended has an invalid trial at its end."""
    if pps is not None:
        return "none"
    return "invalid" if not trials or trials[-1].verdict == "invalid" else "fail"


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
        request = _request_at(subject, settings, percent)
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


def _request_at(subject: TestSubject, settings: FrameLossSettings, percent: float) -> TrialRequest:
    load_pps = subject.maximum_pps * percent / 100
    return TrialRequest(
        "frame-loss",
        load_pps,
        settings.trial_s,
        subject.streams(load_pps),
        early_abort=False,
        step=f"frame-loss/{subject.label}/{percent:g}",
    )
