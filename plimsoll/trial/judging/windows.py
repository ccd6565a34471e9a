"""A long trial judged piece by piece while it goes on: each window as if it were a trial."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest

from plimsoll.dut.lab import LabPorts
from plimsoll.generator.interface import Interval, StreamCounts, TrialPlan
from plimsoll.generator.latency_ends import LatencyEnds
from plimsoll.record.trials.finding_record import FindingRecord
from plimsoll.record.trials.latency_record import LatencyRecord
from plimsoll.record.trials.window_record import WindowRecord, WindowStream, WindowVerdict
from plimsoll.search.evidence.trial_evidence import LossSample
from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.criteria.criterion import Criterion
from plimsoll.trial.judging.early_abort import Silence
from plimsoll.trial.judging.tester import TesterLimits
from plimsoll.trial.judging.verdict import Judgement, judge
from plimsoll.trial.judging.window_sums import WindowSums
from plimsoll.trial.outcome.due_frames import refused_by_dut
from plimsoll.trial.outcome.host_metrics import HostMetrics
from plimsoll.trial.outcome.outcome import Baseline, Outcome
from plimsoll.trial.outcome.series import TrialSeries
from plimsoll.trial.outcome.steadiness import loss_times

_LARGEST_LOSSES = 32


@dataclass(frozen=True)
class WindowRules:
    """How long a window is, and what it is judged by: a trial's criteria and limits."""

    window_s: float
    criteria: Sequence[Criterion]
    tester: TesterLimits

    def applies_to(self, duration_s: float) -> bool:
        """Whether a trial so long has windows: at least two."""
        return duration_s >= 2 * self.window_s


class Windows:
    """Called with each interval of one trial, in order; `finish` ends the last window.

    `closed` is given each window when its intervals are final, an interval after its end. A
    remainder of less than half a window belongs to the window before. `host` has the metrics
    of the hosts over the whole period; each window asks for those of its own time.
    """

    def __init__(
        self,
        rules: WindowRules,
        plan: TrialPlan,
        ports: LabPorts,
        *,
        trial: int,
        baseline: Baseline | None,
        closed: Callable[[WindowRecord], None],
        host: HostMetrics | None = None,
    ) -> None:
        self._rules = rules
        self._plan = plan
        self._ports = ports
        self._trial = trial
        self._baseline = baseline
        self._closed = closed
        self._host = host
        self._settled = SettledIntervals(plan.streams)
        self._index = 1
        self._sums = WindowSums()
        self._series = self._new_series(None)
        # By stream, what all windows so far have found missing.
        self._missing = {each.stream: 0 for each in plan.streams}

    def add(self, interval: Interval) -> None:
        """Account for the next interval."""
        settled = self._settled.add(interval)
        if settled is not None:
            self._take(settled)

    def finish(self, outcome: Outcome) -> None:
        """Close the last window, which has what the whole trial lost beyond all windows."""
        settled = self._settled.last()
        if settled is not None:
            self._take(settled)
        if not len(self._series):
            return
        self._sums.end_sending(outcome.report.sending_s)
        for plan in self._plan.streams:
            counts = outcome.counts(plan.stream)
            refused = refused_by_dut(counts, outcome.drained_by)
            unseen = outcome.lost(plan.stream) - refused - self._missing[plan.stream]
            self._sums.lose(plan.stream, unseen)
        self._close(drain_s=self._plan.drain_s, links_lost=outcome.links_lost)

    def _take(self, interval: Interval) -> None:
        self._sums.add(interval)
        self._series.add(interval)
        for counts in interval.streams:
            self._missing[counts.stream] += counts.missing
        if self._ends_with(interval):
            self._close()

    def _ends_with(self, interval: Interval) -> bool:
        window_s = self._rules.window_s
        end_s = self._index * window_s
        half_s = (interval.end_s - interval.begin_s) / 2
        return interval.end_s >= end_s - half_s and self._plan.duration_s >= end_s + window_s / 2

    def _close(self, drain_s: float = 0.0, links_lost: tuple[str, ...] = ()) -> None:
        outcome = self._outcome(drain_s, links_lost)
        # Only a trial that was stopped ends with less than half a window.
        whole = self._sums.sending_s >= self._rules.window_s / 2
        judgement = judge(outcome, self._rules.criteria, self._rules.tester) if whole else None
        self._closed(_record(outcome, judgement, self._sums, trial=self._trial, index=self._index))
        self._index += 1
        self._sums = WindowSums()
        self._series = self._new_series(self._series)

    def _outcome(self, drain_s: float, links_lost: tuple[str, ...]) -> Outcome:
        report = self._sums.report()
        host = self._host
        return Outcome(
            plan=replace(self._plan, duration_s=self._sums.sending_s, drain_s=drain_s),
            report=report,
            series=self._series,
            drained_by=self._ports.drained_by,
            queue_frames=self._ports.queue_frames,
            paths=self._ports.paths,
            links_lost=links_lost,
            baseline=self._baseline,
            # The whole trial is judged when it has ended.
            comes_again=True,
            host=host and host.during(report.begin_unix_ns, report.sending_s),
        )

    def _new_series(self, before: TrialSeries | None) -> TrialSeries:
        ports = self._ports
        return TrialSeries(self._plan, ports.drained_by, ports.queue_frames, after=before)


def _record(
    outcome: Outcome, judgement: Judgement | None, sums: WindowSums, *, trial: int, index: int
) -> WindowRecord:
    losses = _events(loss_times(outcome))
    workers = outcome.report.workers
    length_s = sums.end_s - sums.begin_s
    stalled_s = max((worker.stalled_ns for worker in workers), default=0) / 1e9
    return WindowRecord(
        trial=trial,
        index=index,
        begin_s=sums.begin_s,
        end_s=sums.end_s,
        sending_s=sums.sending_s,
        begin_unix_ns=outcome.report.begin_unix_ns,
        verdict=_verdict(judgement),
        reasons=tuple(
            FindingRecord.model_validate(each) for each in (judgement.reasons if judgement else ())
        ),
        streams=tuple(_stream(outcome, plan.stream) for plan in outcome.plan.streams),
        lost=sum(loss.frames for loss in losses),
        loss_events=len(losses),
        losses=_largest(losses),
        stalls=sum(worker.stalls for worker in workers),
        worst_stall_ns=max((worker.worst_stall_ns for worker in workers), default=0),
        stalled_share=stalled_s / length_s if length_s > 0 else 0.0,
    )


def _verdict(judgement: Judgement | None) -> WindowVerdict:
    if judgement is None:
        return "none"
    return "undecided" if judgement.undecided else judgement.verdict


def _stream(outcome: Outcome, stream: int) -> WindowStream:
    plan = next(each for each in outcome.plan.streams if each.stream == stream)
    counts, lost, offered = outcome.counts(stream), outcome.lost(stream), outcome.offered(stream)
    ends, delayed = LatencyEnds.of(counts), counts.latency_across_stalls.count > 0
    return WindowStream(
        name=plan.name,
        role=plan.role,
        tx_port=plan.tx_port,
        rx_port=plan.rx_port,
        sent=counts.sent,
        received=counts.received,
        lost=lost,
        loss_ratio=lost / offered if offered else None,
        latency=LatencyRecord.of(counts.latency),
        samples_across_stalls=counts.latency_across_stalls.count,
        latency_low=LatencyRecord.of(ends.low) if delayed else None,
        latency_high=LatencyRecord.of(ends.high) if delayed else None,
    )


def _events(losses: Sequence[LossSample]) -> list[LossSample]:
    """Adjacent intervals as one."""
    events: list[LossSample] = []
    for loss in losses:
        if events and events[-1].end_s == loss.begin_s:
            before = events.pop()
            frames = before.frames + loss.frames
            events.append(LossSample(begin_s=before.begin_s, end_s=loss.end_s, frames=frames))
        else:
            events.append(loss)
    return events


def _largest(losses: Sequence[LossSample]) -> tuple[LossSample, ...]:
    largest = nlargest(_LARGEST_LOSSES, losses, key=lambda loss: loss.frames)
    return tuple(sorted(largest, key=lambda loss: loss.begin_s))


# Intervals whose losses are final, so that a trial can be cut into windows.
class SettledIntervals:
    """Hands each interval on when the next has come, with `missing` as that one leaves it.

    Frames out of order leave gaps for a moment, and those that late frames fill are taken
    back from the interval before. Frames that have had an interval to come back in while
    nothing at all did are missing at once, not only when a later frame shows the gap.
    """

    def __init__(self, streams: tuple[StreamPlan, ...]) -> None:
        self._silences = {plan.stream: _StreamSilence() for plan in streams}
        self._held: Interval | None = None

    def add(self, interval: Interval) -> Interval | None:
        """Take the next interval and return the one before; None for the first."""
        seen = replace(
            interval,
            streams=tuple(self._silences[each.stream].seen(each) for each in interval.streams),
        )
        if self._held is None:
            self._held = seen
            return None
        settled, self._held = _taken_back(self._held, seen)
        return settled

    def last(self) -> Interval | None:
        """The interval that is left when no more come."""
        held, self._held = self._held, None
        return held


class _StreamSilence:
    """Counts a stream's silent frames as missing, and not again when the gap shows."""

    def __init__(self) -> None:
        self._silence = Silence()

    def seen(self, counts: StreamCounts) -> StreamCounts:
        before = self._silence.frames
        self._silence.add(counts)
        return replace(counts, missing=counts.missing + self._silence.frames - before)


def _taken_back(held: Interval, seen: Interval) -> tuple[Interval, Interval]:
    """Both, with what is less than nothing in the second taken from the first."""
    filled = {each.stream: min(0, each.missing) for each in seen.streams}
    taken = {each.stream: -min(max(0, each.missing), -filled[each.stream]) for each in held.streams}
    return (
        replace(held, streams=tuple(_changed(each, taken[each.stream]) for each in held.streams)),
        replace(seen, streams=tuple(_changed(each, -taken[each.stream]) for each in seen.streams)),
    )


def _changed(counts: StreamCounts, missing: int) -> StreamCounts:
    return replace(counts, missing=counts.missing + missing) if missing else counts
