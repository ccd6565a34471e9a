"""Back-to-back frames, section 26.4: the longest burst of which the DUT loses nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.benchmark.trial_run.search_trial import burst_streams
from plimsoll.benchmark.trial_run.steps import Steps
from plimsoll.benchmark.trial_run.trial_runner import TrialRequest
from plimsoll.methods.rfc2544.result import BackToBackRow
from plimsoll.methods.rfc2544.settings import BurstSettings
from plimsoll.methods.rfc2544.subject import TestSubject, spread_of
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.traffic.plan import StreamPlan

# A trial goes on for so much longer than its burst should take, so that none is cut.
_ROOM = 1.1
_MIN_TRIAL_S = 0.1


def measure_back_to_back(
    steps: Steps, subject: TestSubject, settings: BurstSettings, test: str = "back-to-back"
) -> BackToBackRow:
    """Repeat the search; its average is the benchmark. `test` begins the names of its steps."""
    searches: list[LongestBurst] = []
    for number in range(1, settings.repeats + 1):
        searches.append(longest_burst(steps, subject, settings, test, number))
        if searches[-1].problem is not None:
            break
    found = [burst for burst in searches if burst.problem is None]
    values = tuple(burst.frames for burst in found)
    known_steps = [burst.step_frames for burst in found if burst.step_frames is not None]
    return BackToBackRow(
        subject=subject.record,
        values=values,
        frames=spread_of(values),
        limit_frames=search_plan(settings, subject.maximum_pps).limit_frames,
        limit_s=settings.limit_s,
        step_frames=max(known_steps, default=None),
        verifications=settings.verifications,
        at_limit=sum(burst.at_limit for burst in found),
        reason=_problem(searches[-1], len(found), settings.repeats),
        verdict="none" if values else "invalid",
    )


def _problem(last: LongestBurst, found: int, requested: int) -> str | None:
    if last.problem is None:
        return None
    return (
        f"{found} of {requested} searches came to their end, then bursts were spoiled: "
        f"{last.problem}"
    )


# Bursts with the least gap between their frames, sent until the longest without loss is known.
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
        max(_MIN_TRIAL_S, _ROOM * frames / min(subject.maximum_pps, _sent_pps(subject))),
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


# The search for the longest burst without loss: ETSI GS NFV-TST 009's, of frames, not rates.
#
# Pure: it says which burst to send next and is given the outcome.
@dataclass(frozen=True, slots=True)
class BurstSearchPlan:
    """Bursts of 1 to `limit_frames`, until the bounds are near enough.

    They are when `granularity` of the upper one, or `step_frames`, lies between them. A burst
    that lost frames is repeated up to `verifications` times (binary search with loss
    verification, clause 12.3.3); without verifications it is the plain binary search.
    """

    limit_frames: int
    granularity: float
    step_frames: int
    verifications: int = 0

    def __post_init__(self) -> None:
        if self.limit_frames < 1:
            raise ValueError("the longest burst has at least one frame")


class BurstSearch:
    """Between `passed`, the longest burst without loss, and `barred`, the shortest with it.

    The limit comes first: where it passes, there is nothing to search.
    """

    def __init__(self, plan: BurstSearchPlan) -> None:
        self._plan = plan
        self._losses = 0
        self.passed = 0
        self.barred: int | None = None
        # Whether `barred` is a burst that the tester could not send, instead of a loss.
        self.barred_by_tester = False

    @property
    def next_frames(self) -> int | None:
        """The burst to send next; None when the longest is known."""
        if self.barred is None:
            limit = self._plan.limit_frames
            return None if self.passed == limit else limit
        near = max(self._plan.step_frames, int(self._plan.granularity * self.barred))
        if self.barred - self.passed <= max(1, near):
            return None
        return (self.passed + self.barred) // 2

    @property
    def step_frames(self) -> int | None:
        """How far the bounds are apart; None while nothing bars."""
        return None if self.barred is None else self.barred - self.passed

    @property
    def at_limit(self) -> bool:
        """Whether the DUT has lost nothing: its longest burst may be longer."""
        return self.barred is None or self.barred_by_tester

    def tell(self, lossless: bool | None) -> None:
        """Take the outcome of the requested burst: True without loss, None if it could not be sent.

        Raises RuntimeError when none was requested.
        """
        frames = self.next_frames
        if frames is None:
            raise RuntimeError("no burst was requested")
        if lossless:
            self._losses = 0
            self.passed = frames
        elif lossless is None:
            self._bar(frames, by_tester=True)
        elif self._losses < self._plan.verifications:
            self._losses += 1
        else:
            self._bar(frames, by_tester=False)

    def _bar(self, frames: int, *, by_tester: bool) -> None:
        self._losses = 0
        self.barred, self.barred_by_tester = frames, by_tester
