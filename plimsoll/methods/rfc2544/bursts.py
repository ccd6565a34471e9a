"""Bursts with the least gap between their frames, sent until the longest without loss is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.benchmark.trial_run.burst import burst_streams
from plimsoll.benchmark.trial_run.steps import Steps
from plimsoll.benchmark.trial_run.trial_runner import TrialRequest
from plimsoll.methods.rfc2544.burst_search import BurstSearch, BurstSearchPlan
from plimsoll.methods.rfc2544.settings import BurstSettings
from plimsoll.methods.rfc2544.subject import TestSubject
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.traffic.plan import StreamPlan

# A trial goes on for so much longer than its burst should take, so that none is cut.
_ROOM = 1.1
_LEAST_TRIAL_S = 0.1


@dataclass(frozen=True, slots=True)
class LongestBurst:
    """What one search found, in frames of each direction; `step_frames` None at the limit.

    `problem` says why it did not come to its end.
    """

    frames: int
    at_limit: bool
    step_frames: int | None
    problem: str | None = None


def search_plan(settings: BurstSettings, maximum_pps: float) -> BurstSearchPlan:
    """The search whose longest burst takes `limit_s` at the maximum."""
    return BurstSearchPlan(
        limit_frames=max(1, round(settings.limit_s * maximum_pps)),
        granularity=settings.granularity,
        step_frames=settings.step_frames,
        verifications=settings.verifications,
    )


def longest_burst(
    steps: Steps, subject: TestSubject, settings: BurstSettings, test: str, number: int
) -> LongestBurst:
    """One whole search, the `number`th repetition of `test`."""
    search = BurstSearch(search_plan(settings, subject.maximum_pps))
    attempt = 0
    while (frames := search.next_frames) is not None:
        attempt += 1
        step = f"{test}/{subject.label}/{number}/{attempt}"
        trial = _send(steps, subject, frames, number, step)
        search.tell(_lossless(trial, subject, frames))
        if steps.hopeless:
            why = "; ".join(each.text for each in trial.reasons)
            return LongestBurst(search.passed, search.at_limit, search.step_frames, why)
    return LongestBurst(search.passed, search.at_limit, search.step_frames)


def minimum_gap_streams(subject: TestSubject, frames: int) -> tuple[StreamPlan, ...]:
    """A burst of so many frames in each direction, with the least gap between them.

    On a line, frames go out whenever the port has room, which is as fast as the line takes
    them. Without one, waiting for room would be waiting for the DUT, which could then lose
    nothing: there the burst keeps to the rate that was stated as the maximum.
    """
    load = subject.streams(subject.maximum_pps)
    return burst_streams(load, frames, paced=subject.basis != "line-rate")


def _send(steps: Steps, subject: TestSubject, frames: int, number: int, step: str) -> TrialRecord:
    request = TrialRequest(
        "back-to-back",
        subject.maximum_pps,
        max(_LEAST_TRIAL_S, _ROOM * frames / min(subject.maximum_pps, _sent_pps(subject))),
        minimum_gap_streams(subject, frames),
        early_abort=False,
        repetition=number,
        step=step,
    )
    return steps.valid(subject.experiment, request)


def _sent_pps(subject: TestSubject) -> float:
    """The rate at which a burst leaves: less than the line's where the tester cannot fill it."""
    return subject.maximum_pps if subject.ceiling is None else subject.ceiling.offered_pps


def _lossless(trial: TrialRecord, subject: TestSubject, frames: int) -> bool | None:
    """Whether nothing was lost; None where no trial of the burst was valid and whole."""
    if trial.verdict == "invalid" or not is_whole(minimum_gap_streams(subject, frames), trial):
        return None
    return trial.verdict == "pass"


def is_whole(streams: Sequence[StreamPlan], trial: TrialRecord) -> bool:
    """Whether every frame of the burst was offered, and none left out on the way."""
    planned = {plan.stream: plan.frame_count for plan in streams}
    return all(
        stream.skipped == 0
        and stream.no_buffer == 0
        and stream.lost + stream.received - stream.duplicate == planned[stream.stream]
        for stream in trial.streams
    )
