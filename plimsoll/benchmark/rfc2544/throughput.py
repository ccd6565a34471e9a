"""Throughput, section 26.1: the fastest rate at which no frame is lost."""

from __future__ import annotations

from plimsoll.benchmark.recorded_trial import TrialRequest
from plimsoll.benchmark.rfc2544.settings import ThroughputSettings
from plimsoll.benchmark.rfc2544.subject import TestSubject
from plimsoll.benchmark.steps import Steps
from plimsoll.benchmark.told import told_of
from plimsoll.record.rfc2544_result import ThroughputRow
from plimsoll.record.trial_record import TrialRecord
from plimsoll.search.ask import Ask, GoalEnd, Search
from plimsoll.search.binary.settings import BinarySettings
from plimsoll.traffic.units import Rate
from plimsoll.traffic.wire import l1_bits


def measure_throughput(
    steps: Steps, subject: TestSubject, settings: ThroughputSettings
) -> ThroughputRow:
    """Bisect between the subject's minimum and its maximum, and prove what was found."""
    search = _search(subject, settings)
    trials: list[TrialRecord] = []
    while isinstance(asked := search.ask(), Ask):
        step = f"throughput/{subject.label}/{len(trials) + 1}"
        trials.append(steps.once(subject.experiment, _request(subject, asked, step)))
        search.tell(told_of(trials[-1]))
    return _row(subject, asked.first, trials)


def _search(subject: TestSubject, settings: ThroughputSettings) -> Search:
    asked = BinarySettings.model_validate(
        {
            "minimum": Rate(subject.minimum_pps, "pps"),
            "maximum": Rate(subject.maximum_pps, "pps"),
            "granularity": settings.granularity,
            "duration": settings.search_s,
            "validation": {"duration": settings.final_s},
        }
    )
    return asked.begin(lambda _, rate: rate.value)


def _request(subject: TestSubject, asked: Ask, step: str) -> TrialRequest:
    return TrialRequest(
        asked.phase,
        asked.load_pps,
        asked.duration_s,
        subject.streams(asked.load_pps),
        attempt=asked.attempt,
        early_abort=asked.early_abort,
        repetition=asked.repetition,
        step=step,
    )


def _row(subject: TestSubject, end: GoalEnd, trials: list[TrialRecord]) -> ThroughputRow:
    pps = end.load_line_pps
    proof = trials[-1] if pps is not None else None
    return ThroughputRow(
        subject=subject.record,
        pps=pps,
        percent_of_maximum=None if pps is None else 100 * pps / subject.maximum_pps,
        l1_bps=None if pps is None else pps * l1_bits(subject.experiment.profile.mean_frame_size),
        limited_by=end.limited_by,
        final_trial=proof.number if proof else None,
        final_s=proof.sending_s if proof else None,
        trials=len(trials),
        reason=end.reason if pps is None else None,
    )
