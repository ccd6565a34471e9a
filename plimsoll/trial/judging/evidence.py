"""What a trial shows apart from its verdict, drawn from its outcome."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plimsoll.generator.histogram import Histogram, merge
from plimsoll.search.evidence.counted import largest_peaks, most_telling
from plimsoll.search.evidence.theil_sen import theil_sen
from plimsoll.search.evidence.trial_evidence import (
    Disturbance,
    LatencyPeak,
    OfferedInterval,
    TrialEvidence,
)
from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.outcome.due_frames import due_frames
from plimsoll.trial.outcome.outcome import Outcome
from plimsoll.trial.outcome.series import NO_SAMPLE
from plimsoll.trial.outcome.steadiness import loss_times


def evidence_of(outcome: Outcome, disturbances: Sequence[Disturbance] = ()) -> TrialEvidence:
    """The evidence of a trial; TrialEvidence says what each field is."""
    unexcused, losses = outcome.unexcused_losses(), loss_times(outcome)
    latency = _load_latency(outcome)
    return TrialEvidence(
        sending_s=outcome.report.sending_s,
        intervals=sum(outcome.series.sending),
        offered=sum(outcome.offered(plan.stream) for plan in outcome.judged),
        lost=sum(unexcused.values()),
        loss_ratio=_worst_loss_ratio(outcome, unexcused),
        forwarded_pps=_least_forwarded_pps(outcome),
        first_loss_s=losses[0].begin_s if losses else None,
        lossy_intervals=len(losses),
        losses=most_telling(losses),
        min_ns=latency.min_ns,
        p50_ns=latency.quantile_ns(0.5),
        p99_ns=latency.quantile_ns(0.99),
        max_ns=latency.max_ns,
        latency_growth=_latency_growth(outcome),
        peaks=_peaks(outcome),
        offered_pps=_offered_pps(outcome),
        least_offered=_least_offered(outcome),
        disturbances=tuple(disturbances),
    )


def _loads(outcome: Outcome) -> list[StreamPlan]:
    return [plan for plan in outcome.judged if plan.role == "load"]


def _load_latency(outcome: Outcome) -> Histogram:
    return merge(outcome.counts(plan.stream).latency for plan in _loads(outcome))


def _directions(plans: Iterable[StreamPlan]) -> list[list[StreamPlan]]:
    """The streams of each direction."""
    directions: dict[tuple[int, int], list[StreamPlan]] = {}
    for plan in plans:
        directions.setdefault((plan.tx_port, plan.rx_port), []).append(plan)
    return list(directions.values())


def _worst_loss_ratio(outcome: Outcome, unexcused: dict[int, int]) -> float:
    ratios = []
    for direction in _directions(outcome.judged):
        offered = sum(outcome.offered(plan.stream) for plan in direction)
        lost = sum(unexcused[plan.stream] for plan in direction)
        ratios.append(lost / offered if offered else 0.0)
    return max(ratios, default=0.0)


def _least_forwarded_pps(outcome: Outcome) -> float:
    """While the direction's streams sent: what their schedules leave out is not a lower rate."""
    rates_pps = []
    for direction in _directions(outcome.judged):
        frames = sum(outcome.returned(plan.stream) for plan in direction)
        sending_s = _sending_s(direction, outcome)
        rates_pps.append(frames / sending_s if sending_s > 0 else 0.0)
    return min(rates_pps, default=0.0)


def _sending_s(direction: list[StreamPlan], outcome: Outcome) -> float:
    """How long its streams sent, in the mean of their rates."""
    dues = [(plan.rate_pps, outcome.due(plan)) for plan in direction]
    known = [(rate_pps, due) for rate_pps, due in dues if rate_pps and due is not None]
    steady = all(plan.schedule.always for plan in direction)
    if steady or len(known) < len(dues):
        return outcome.report.sending_s
    return sum(due for _, due in known) / sum(rate_pps for rate_pps, _ in known)


def _offered_pps(outcome: Outcome) -> float | None:
    """By load streams alone: a probe of a few frames a second does not measure a rate."""
    shares = [
        _share(outcome.offered(plan.stream), due)
        for plan in outcome.plan.streams
        if plan.role == "load" and (due := outcome.due(plan))
    ]
    return outcome.plan.load_pps * min(shares) if shares else None


def _share(offered: int, due: float) -> float:
    """Of what was due. A frame more or less is how the last one fell: 100 % has no more."""
    return 1.0 if abs(offered - due) <= 1 else offered / due


def _least_offered(outcome: Outcome) -> OfferedInterval | None:
    """Of whole intervals: in a short remainder a single frame is much.

    Streams that may end before the trial does, pause or replay a capture have no rate that each
    interval is to keep.
    """
    series, whole_s = outcome.series, outcome.plan.interval_s / 2
    steady = [each for each in _loads(outcome) if each.steady]
    shares = [
        (min(series.streams[plan.stream].offered[place] / due for plan, due in dues), place)
        for place, sending in enumerate(series.sending)
        if sending
        and (length_s := series.end_s[place] - series.begin_s[place]) >= whole_s
        and (dues := [(plan, due) for plan in steady if (due := due_frames(plan, length_s))])
    ]
    if not shares:
        return None
    share, place = min(shares)
    begin_s, end_s = series.begin_s[place], series.end_s[place]
    return OfferedInterval(begin_s=begin_s, end_s=end_s, pps=outcome.plan.load_pps * share)


def _latency_growth(outcome: Outcome) -> float | None:
    """Of the load stream whose queue grows fastest."""
    series = outcome.series
    slopes = []
    for plan in _loads(outcome):
        medians = series.streams[plan.stream].p50_ns
        slopes.append(
            theil_sen(
                [
                    (begin_s, p50_ns)
                    for begin_s, p50_ns, sending in zip(
                        series.begin_s, medians, series.sending, strict=True
                    )
                    if sending and p50_ns != NO_SAMPLE
                ]
            )
        )
    return max((slope for slope in slopes if slope is not None), default=None)


def _peaks(outcome: Outcome) -> tuple[LatencyPeak, ...]:
    """The intervals with the worst latencies, by time; `at_s` is where they begin."""
    columns = [outcome.series.streams[plan.stream].max_ns for plan in _loads(outcome)]
    worst = [
        (max(each), begin_s)
        for begin_s, *each in zip(outcome.series.begin_s, *columns, strict=True)
        if each and max(each) != NO_SAMPLE
    ]
    return largest_peaks(worst)
