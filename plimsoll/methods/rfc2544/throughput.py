"""Throughput, section 26.1: the fastest rate at which no frame is lost."""

from __future__ import annotations

from plimsoll.benchmark.trial_run.search_trial import search_answer
from plimsoll.benchmark.trial_run.steps import Steps
from plimsoll.benchmark.trial_run.trial_runner import TrialRequest
from plimsoll.methods.rfc2544.result import ThroughputRow
from plimsoll.methods.rfc2544.settings import ThroughputSettings
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
