"""Latency, section 26.2: of a frame tagged in the midst of a stream at the throughput."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.trial_run.steps import Steps
from plimsoll.benchmark.trial_run.trial_runner import TrialRequest
from plimsoll.methods.rfc2544.result import AllFrames, LatencyRow, ThroughputRow
from plimsoll.methods.rfc2544.settings import LatencySettings
from plimsoll.methods.rfc2544.subject import TestSubject, spread_of
from plimsoll.record.trials.latency_record import LatencyRecord
from plimsoll.record.trials.trial_record import TrialRecord, Verdict
from plimsoll.traffic.plan import Pacing, StreamPlan
from plimsoll.trial.outcome.outcome import Outcome
from plimsoll.trial.outcome.series import NO_SAMPLE

DEFINITION = (
    "From the tester's stamp just before a frame is handed to its port to the stamp when it "
    "is found received: RFC 1242's latency of bit forwarding devices (first bit in to first "
    "bit out) and the tester's own path, of which nothing is subtracted. On a wire, a store "
    "and forward device's is shorter by the time that the frame takes on it."
)
_TAG = "tag"
_TAGGED = "tagged_ns"


def measure_latency(
    steps: Steps, subject: TestSubject, settings: LatencySettings, throughput: ThroughputRow
) -> LatencyRow:
    """Repeat the stream at the throughput, and time one frame a direction in each."""
    if throughput.pps is None:
        why = f"no throughput is known: {throughput.reason}"
        return _nothing(subject, why, throughput.verdict)
    experiment = _for_tags(subject.experiment)
    trials: list[TrialRecord] = []
    for number in range(1, settings.repeats + 1):
        request = _request(subject, settings, throughput.pps, number)
        # A stall of the tester may have touched a tagged frame and spared the rest.
        trials.append(steps.valid(experiment, request, tells=_has_all_tags))
        if steps.hopeless:
            break
    valid = [trial for trial in trials if trial.verdict != "invalid"]
    tagged = [ns for trial in valid for ns in trial.observed.values() if ns is not None]
    if not tagged:
        return _nothing(subject, _why_nothing(trials), _verdict_on_nothing(trials), trials)
    return LatencyRow(
        subject=subject.record,
        load_pps=throughput.pps,
        tagged_ns=spread_of(tagged),
        all_frames=_all_frames(valid),
        lost=sum(_lost(trial) for trial in valid),
        trials=len(valid),
        reason=_why_fewer(len(valid), settings.repeats, trials),
        verdict="none",
    )


def with_tags(load: Sequence[StreamPlan], tag_s: float) -> tuple[StreamPlan, ...]:
    """The streams, and one more in each direction whose second and last frame is the tagged one.

    The first goes out with the stream, the second `tag_s` later: a rate of one in that time,
    which is taken out of the direction's first stream, so that the whole keeps to its rate.
    """
    directions = {(plan.tx_port, plan.rx_port): plan for plan in reversed(load)}
    first = 1 + max(plan.stream for plan in load)
    rest = tuple(
        replace(plan, rate_pps=(plan.rate_pps or 0.0) - 1 / tag_s)
        if plan in directions.values()
        else plan
        for plan in load
    )
    tags = (
        replace(
            plan,
            stream=first + number,
            name=f"{_TAG}/{plan.tx_port}-{plan.rx_port}",
            role="latency",
            rate_pps=1 / tag_s,
            pacing=Pacing(),
            frame_count=2,
        )
        for number, plan in enumerate(reversed(directions.values()))
    )
    return (*rest, *tags)


def tagged_latencies(outcome: Outcome, tag_s: float) -> dict[str, float | None]:
    """By direction, the latency in ns of the frame tagged `tag_s` after the first.

    None where it did not come back, or a stall of the tester touched it.
    """
    return {
        f"{_TAGGED}/{plan.tx_port}-{plan.rx_port}": _tagged_ns(outcome, plan, tag_s)
        for plan in outcome.plan.streams
        if plan.role == "latency"
    }


def _tagged_ns(outcome: Outcome, plan: StreamPlan, tag_s: float) -> float | None:
    series = outcome.series
    late = (
        max_ns
        for end_s, max_ns in zip(series.end_s, series.streams[plan.stream].max_ns, strict=True)
        # The stream's first frame came back long before.
        if end_s > tag_s and max_ns != NO_SAMPLE
    )
    return next(late, None)


def _request(
    subject: TestSubject, settings: LatencySettings, load_pps: float, number: int
) -> TrialRequest:
    def observe(outcome: Outcome) -> Mapping[str, float | None]:
        return tagged_latencies(outcome, settings.tag_s)

    return TrialRequest(
        "latency",
        load_pps,
        settings.stream_s,
        with_tags(subject.streams(load_pps), settings.tag_s),
        early_abort=False,
        repetition=number,
        step=f"latency/{subject.label}/{number}",
        observe=observe,
    )


def _for_tags(experiment: Experiment) -> Experiment:
    """A tagged frame that leaves late is stamped when it leaves: its lateness spoils nothing."""
    tester = experiment.tester.model_copy(update={"max_late_share": 1.0})
    return experiment.model_copy(update={"tester": tester})


def _all_frames(trials: Sequence[TrialRecord]) -> AllFrames | None:
    parts = [
        stream.latency
        for trial in trials
        for stream in trial.streams
        if stream.role == "load" and stream.latency.count
    ]
    if not parts:
        return None
    count = sum(part.count for part in parts)
    return AllFrames(
        count=count,
        min_ns=min(part.min_ns or 0 for part in parts),
        mean_ns=sum((part.mean_ns or 0.0) * part.count for part in parts) / count,
        p50_ns=_worst(parts, "p50_ns"),
        p99_ns=_worst(parts, "p99_ns"),
        p99_9_ns=_worst(parts, "p99_9_ns"),
        max_ns=_worst(parts, "max_ns"),
    )


def _worst(parts: Sequence[LatencyRecord], quantile: str) -> int:
    return max(int(getattr(part, quantile) or 0) for part in parts)


def _lost(trial: TrialRecord) -> int:
    return trial.evidence.lost if trial.evidence else sum(each.lost for each in trial.streams)


def _has_all_tags(trial: TrialRecord) -> bool:
    return all(ns is not None for ns in trial.observed.values())


def _why_nothing(trials: Sequence[TrialRecord]) -> str:
    why = "; ".join(each.text for each in trials[-1].reasons)
    return f"no tagged frame came back in a valid trial: {why}" if why else "none came back"


def _why_fewer(valid: int, requested: int, trials: Sequence[TrialRecord]) -> str | None:
    if valid == requested:
        return None
    spoiled = [trial for trial in trials if trial.verdict == "invalid"]
    why = "; ".join(each.text for each in spoiled[-1].reasons) if spoiled else ""
    return f"{valid} of {requested} repetitions were valid: {why}"


def _nothing(
    subject: TestSubject,
    reason: str,
    verdict: Verdict | None,
    trials: Sequence[TrialRecord] = (),
) -> LatencyRow:
    return LatencyRow(
        subject=subject.record,
        load_pps=trials[0].load_pps if trials else None,
        tagged_ns=None,
        all_frames=None,
        lost=0,
        trials=0,
        reason=reason,
        verdict=verdict,
    )


def _verdict_on_nothing(trials: Sequence[TrialRecord]) -> Verdict:
    """A tagged frame that does not come back in a valid trial is lost by the DUT."""
    return "invalid" if all(trial.verdict == "invalid" for trial in trials) else "fail"
