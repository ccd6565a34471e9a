"""The tester without a DUT: trials over paths that hold nothing but the tester."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from plimsoll.benchmark.testbed.trial_marks import TrialMarks
from plimsoll.generator.interface import Generator, Interval, TrialPlan, TrialReport
from plimsoll.record.trials.trial_parts import TrialIdentity
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.traffic.plan import Pacing, StreamPlan
from plimsoll.trial.outcome.due_frames import due_frames, scatter

_DRAIN_S = 0.1
# A tester that carries the rate makes up for being away, and there is no DUT to spare the
# burst. But what it is behind with when a trial ends is sent after its end, so this much of
# a trial may be more than it carries: less than the search's precision.
_CATCH_UP_SHARE = 0.02
# The engine's largest burst: what was due when sending ended, and not yet sent.
_LAST_BURST_FRAMES = 64


@dataclass
class LoneTester:
    """Runs trials on `generator`, each under a mark of its own, and records none of them."""

    generator: Generator
    marks: TrialMarks = field(default_factory=TrialMarks)
    trials: int = 0

    def trial(
        self, streams: tuple[StreamPlan, ...], load_pps: float, duration_s: float
    ) -> tuple[TrialRecord, str | None]:
        """One trial, and the first fault of the tester in it; None where it was clean.

        Frames refused and frames lost are the tester's: nothing else is there.
        """
        plan = TrialPlan(
            mark=self.marks.take(),
            streams=streams,
            duration_s=duration_s,
            drain_s=_DRAIN_S,
            interval_s=duration_s,
            catch_up_us=_CATCH_UP_SHARE * duration_s * 1e6,
            load_pps=load_pps,
        )
        report = self.generator.trial(plan, _go_on)
        self.trials += 1
        lost = {each.stream: each.sent - each.received + each.duplicate for each in report.streams}
        identity = TrialIdentity(self.trials, "calibration")
        record = TrialRecord.from_report(identity, plan, report, lost=lost)
        return record, next(_faults(plan, report, lost), None)


def one_in_flight(streams: tuple[StreamPlan, ...]) -> tuple[StreamPlan, ...]:
    """The same streams, each sending its next frame when the last is back."""
    return tuple(
        replace(stream, rate_pps=None, pacing=Pacing("one-in-flight")) for stream in streams
    )


def _go_on(interval: Interval) -> bool:
    return False


def _faults(plan: TrialPlan, report: TrialReport, lost: dict[int, int]) -> Iterator[str]:
    """What the tester did wrong, in words."""
    if report.ended_by == "link_down":
        yield "a link went down"
    plans = {stream.stream: stream for stream in plan.streams}
    for counts in report.streams:
        stream = plans[counts.stream]
        for frames, said in (
            (counts.skipped, "were skipped, being late"),
            (counts.no_buffer, "found no buffer"),
            (counts.refused, "found no room in the port's queue"),
            (lost[counts.stream], "did not come back"),
            (_short_of_plan(stream, counts.sent, report.sending_s), "were not offered in time"),
        ):
            if frames:
                yield f"{frames:,} frames of {stream.name} {said}"


def _short_of_plan(stream: StreamPlan, sent: int, sending_s: float) -> int:
    """Frames missing beyond the last burst."""
    due = due_frames(stream, sending_s)
    if due is None:
        return 0
    short = due - sent
    return round(short) if short > _LAST_BURST_FRAMES + scatter(stream, due) else 0
