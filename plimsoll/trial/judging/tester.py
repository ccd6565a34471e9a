"""Whether the tester itself was fit to judge by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Self

from pydantic import BaseModel, ConfigDict, NonNegativeInt, PrivateAttr

from plimsoll.generator.histogram import Histogram, bucket_bounds_ns
from plimsoll.generator.interface import PortCounts, StreamCounts, WorkerCounts
from plimsoll.record.trials.finding_record import FindingOutcome
from plimsoll.text.units import (
    DurationField,
    RatioField,
    format_duration,
    format_ns,
    format_pps,
    format_ratio,
)
from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.outcome.due_frames import scatter
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome
from plimsoll.trial.outcome.own_time import SelfOverhead

# trafficgen's default.
_RATE_TOLERANCE = 0.05
# The validation is what a load line is stated by.
_VALIDATION_RATE_TOLERANCE = 0.005


class TesterLimits(BaseModel):
    """How far the tester may stray before its trial is no evidence about the DUT.

    A probe is late when it left more than `late_probe` after its time: then
    the DUT was not probed when it should have been. Probes skipped, refused by a wire, or
    without a buffer count as late. `max_no_buffer` frames of a stream may find no buffer.
    Where `rate_tolerance` is stated it is that of validations as well, unless these have
    one of their own.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    rate_tolerance: RatioField | None = None
    validation_rate_tolerance: RatioField | None = None
    # trafficgen's default.
    runtime_tolerance: RatioField = 0.05
    max_stall: DurationField = 0.05
    max_stalled_share: RatioField = 0.05
    # A tenth of the interval of 1000 probes a second: many turns of a busy polling loop.
    late_probe: DurationField = 100e-6
    # A loop that is away for `max_stalled_share` of the time makes as many probes late.
    max_late_share: RatioField = 0.05
    # Plimsoll's own processes, of the CPUs that are polled; docs/decisions/012 has measurements.
    max_own_share: RatioField = 0.01
    # An empty pool is a tester with too little memory, whatever the load.
    max_no_buffer: NonNegativeInt = 0
    _validating: bool = PrivateAttr(default=False)

    def of_validation(self) -> Self:
        """These limits as they are for validations and soaks."""
        limits = self.model_copy()
        limits._validating = True
        return limits

    @property
    def offered_tolerance(self) -> float:
        """By how much, as a ratio, a load stream's offered frames may differ from its plan."""
        return self._tolerance(validating=self._validating)

    def _tolerance_of(self, plan: StreamPlan) -> float:
        """A probe proves no load, also in a validation, and has a rule of its own."""
        return self._tolerance(validating=self._validating and plan.role == "load")

    def _tolerance(self, *, validating: bool) -> float:
        stated, default = self.rate_tolerance, _RATE_TOLERANCE
        if validating:
            own, default = self.validation_rate_tolerance, _VALIDATION_RATE_TOLERANCE
            stated = stated if own is None else own
        return default if stated is None else stated

    def findings(self, outcome: Outcome) -> list[Finding]:
        """Every rule applied to the tester's part in a trial, kept or broken."""
        return [
            *(each for plan in outcome.plan.streams for each in self._offered_rate(plan, outcome)),
            *(self._no_buffer(plan, outcome) for plan in outcome.plan.streams),
            *(each for plan in outcome.plan.streams for each in self._late_probes(plan, outcome)),
            *self._runtime(outcome),
            *(self._worst_stall(worker) for worker in outcome.report.workers),
            *(self._stalled_share(worker, outcome) for worker in outcome.report.workers),
            *self._own_share(outcome),
            *_negative_losses(outcome),
            *_links_lost(outcome),
            *(each for port in outcome.report.ports for each in _port_findings(port)),
        ]

    def _offered_rate(self, plan: StreamPlan, outcome: Outcome) -> Iterable[Finding]:
        """Nothing for a stream without a rate, nor for one whose schedule has it send nothing."""
        expected = outcome.due(plan)
        if expected is None or plan.rate_pps is None or outcome.sends_nothing(plan):
            return
        offered = outcome.offered(plan.stream)
        absent = absent_frames(plan, outcome) if self._validating else 0
        tolerance = self._tolerance_of(plan)
        off = max(0.0, expected - offered - absent) or max(0.0, offered - expected)
        strayed = off / expected if expected else 1.0
        # A frame more or less is how the last one fell, at any rate.
        seconds, begin_s = outcome.report.sending_s, outcome.begin_s
        near = expected > 0 and off <= 1 + scatter(plan, expected, seconds, begin_s=begin_s)
        yield Finding(
            rule="offered-rate",
            subject=plan.name,
            value=strayed,
            limit=tolerance,
            unit="ratio",
            outcome=_fit(strayed <= tolerance or near),
            text=f"{plan.name}: the tester offered {offered:,} of {expected:,.0f} frames at "
            f"{format_pps(plan.rate_pps)}, {_how_far(offered, expected, absent)}; "
            f"at most {format_ratio(tolerance)} allowed",
        )
        if absent:
            yield _left_out(plan, absent, expected)

    def _no_buffer(self, plan: StreamPlan, outcome: Outcome) -> Finding:
        frames = outcome.counts(plan.stream).no_buffer
        text = (
            f"{plan.name}: the tester had no buffer for {frames:,} frames; "
            f"at most {self.max_no_buffer:,} allowed"
        )
        fit = _fit(frames <= self.max_no_buffer)
        return Finding("no-buffer", plan.name, frames, self.max_no_buffer, "frames", fit, text)

    def _late_probes(self, plan: StreamPlan, outcome: Outcome) -> Iterable[Finding]:
        """Nothing for load, nor for a probe that waits for the DUT."""
        if plan.role != "latency" or outcome.due(plan) is None:
            return
        counts = outcome.counts(plan.stream)
        late, unsent = _more_than(counts.lateness, self.late_probe * 1e9), _unsent(counts, outcome)
        due = outcome.offered(plan.stream) + unsent
        # Without a probe there is nothing late; that too few were sent has a rule of its own.
        share = (late + unsent) / due if due else 0.0
        yield Finding(
            rule="late-probes",
            subject=plan.name,
            value=share,
            limit=self.max_late_share,
            unit="ratio",
            outcome=_fit(share <= self.max_late_share),
            text=f"{plan.name}: of {due:,} probes the tester sent {late:,} more than "
            f"{format_ns(self.late_probe * 1e9)} late and {unsent:,} not at all, "
            f"{format_ratio(share)}; at most {format_ratio(self.max_late_share)} allowed",
        )

    def _runtime(self, outcome: Outcome) -> list[Finding]:
        """Nothing for a trial stopped on purpose: the judge sees to those."""
        if outcome.report.ended_by in ("stop", "losses"):
            return []
        expected, ran = outcome.plan.duration_s, outcome.report.sending_s
        strayed = abs(ran - expected) / expected
        finding = Finding(
            rule="runtime",
            subject="trial",
            value=strayed,
            limit=self.runtime_tolerance,
            unit="ratio",
            outcome=_fit(strayed <= self.runtime_tolerance),
            text=f"the tester sent for {format_duration(ran)} of {format_duration(expected)}, "
            f"{format_ratio(strayed)} off; at most {format_ratio(self.runtime_tolerance)} allowed",
        )
        return [finding]

    def _worst_stall(self, worker: WorkerCounts) -> Finding:
        limit_ns = self.max_stall * 1e9
        return Finding(
            rule="stall",
            subject=_name(worker),
            value=worker.worst_stall_ns,
            limit=limit_ns,
            unit="ns",
            outcome=_fit(worker.worst_stall_ns <= limit_ns),
            text=f"the tester stalled on {_name(worker)} for {format_ns(worker.worst_stall_ns)} "
            f"at worst; at most {format_ns(limit_ns)} allowed",
        )

    def _own_share(self, outcome: Outcome) -> Iterable[Finding]:
        """Nothing where nothing is polled, or before the first frame."""
        own = outcome.own
        if own is None or own.sending_s <= 0:
            return
        yield Finding(
            rule="own-share",
            subject="Plimsoll",
            value=own.share,
            limit=self.max_own_share,
            unit="ratio",
            outcome=_fit(own.share <= self.max_own_share),
            text=f"Plimsoll's own processes took {format_ratio(own.share)} of the "
            f"{own.polled_cpus} polled CPUs while frames were sent ({_named_times(own)}); "
            f"at most {format_ratio(self.max_own_share)} allowed",
        )

    def _stalled_share(self, worker: WorkerCounts, outcome: Outcome) -> Finding:
        watched_s = outcome.report.sending_s + outcome.plan.drain_s
        # The drain lasts longer where the main thread is kept from its CPU, too.
        share = min(1.0, worker.stalled_ns / 1e9 / watched_s) if watched_s else 1.0
        return Finding(
            rule="stalled-share",
            subject=_name(worker),
            value=share,
            limit=self.max_stalled_share,
            unit="ratio",
            outcome=_fit(share <= self.max_stalled_share),
            text=f"the tester stalled on {_name(worker)} for {format_ratio(share)} of the time; "
            f"at most {format_ratio(self.max_stalled_share)} allowed",
        )


def _how_far(offered: int, expected: float, absent: int) -> str:
    """By how much a stream was offered less or more than planned, as a share of the plan."""
    ratio = format_ratio(abs(offered - expected) / expected) if expected else format_ratio(1.0)
    if not absent:
        return f"{ratio} off"
    left = max(0.0, expected - offered - absent) / expected
    return f"{ratio} off, {format_ratio(left)} without what its absences explain"


def _left_out(plan: StreamPlan, absent: int, expected: float) -> Finding:
    """What the comparison of the offered rate did not count, for the record and its readers."""
    text = (
        f"{plan.name}: {format_ratio(absent / expected)} of the planned frames ({absent:,}) were "
        "not sent because the tester's CPU was taken away when they were due"
    )
    return Finding("absent-frames", plan.name, absent, None, "frames", "ok", text)


def _named_times(own: SelfOverhead) -> str:
    """The largest first: "plimsoll 12 ms, observer 3 ms"."""
    known = [(ns, name) for name, ns in own.cpu_ns.items() if ns is not None]
    return ", ".join(f"{name} {format_ns(ns)}" for ns, name in sorted(known, reverse=True))


def _unsent(counts: StreamCounts, outcome: Outcome) -> int:
    """Frames that were due and that the DUT was never offered."""
    refused = 0 if outcome.drained_by == "dut" else counts.refused
    return counts.skipped + counts.no_buffer + refused


def _more_than(histogram: Histogram, limit_ns: float) -> int:
    """Samples above the limit, by buckets: those within 0.78 % of it may be counted as above."""
    return sum(n for index, n in histogram.buckets if bucket_bounds_ns(index)[1] > limit_ns)


def _negative_losses(outcome: Outcome) -> Iterable[Finding]:
    for plan in outcome.plan.streams:
        lost = outcome.lost(plan.stream)
        if lost < 0:
            text = f"{plan.name}: {-lost:,} more frames came back than were offered"
            yield _frame_finding("negative-loss", plan.name, lost, text)


def _links_lost(outcome: Outcome) -> Iterable[Finding]:
    for link in outcome.links_lost:
        yield Finding("link", link, None, None, "", "invalid", f"{link} lost its carrier")


def _port_findings(port: PortCounts) -> Iterable[Finding]:
    subject = f"port {port.port}"
    if not port.link_up:
        text = f"the link of {subject} went down"
        yield Finding("link", subject, None, None, "", "invalid", text)
    stale = f"{subject}: {port.stale:,} frames of another trial came in"
    yield _frame_finding("stale-frames", subject, port.stale, stale)
    if port.truncated:
        cut = (
            f"{subject}: {port.truncated:,} frames came in cut short, as its buffers are shorter "
            "or something on the way cut them; those of the trial count as lost"
        )
        yield Finding("truncated-frames", subject, port.truncated, None, "frames", "ok", cut)
    if port.host:
        moved = port.host.get("moved", 0)
        said = f"{subject}: {moved:,} frames named another MAC address of a next hop than was used"
        yield _frame_finding("next-hop-moved", subject, moved, said)
    unread = port.rx_missed + port.rx_errors + port.rx_no_mbuf
    said = f"{subject}: {unread:,} frames reached the tester that it could not take"
    yield _frame_finding("unread-frames", subject, unread, said)


def _frame_finding(rule: str, subject: str, count: int, text: str) -> Finding:
    """None are allowed."""
    return Finding(rule, subject, count, 0, "frames", _fit(count == 0), text)


def _name(worker: WorkerCounts) -> str:
    return f"CPU {worker.cpu}"


def _fit(kept: bool) -> FindingOutcome:
    return "ok" if kept else "invalid"


# Frames that a stream was never sent because its polling loop had been taken away.
#
# On CPUs that the tester shares, its loop is away now and then, and what came due in that time
# is skipped. How much of that there may be is bounded by the loop's own time away
# (TesterLimits.max_stalled_share); a validation's closer look at the offered rate leaves it
# out, and says so, lest it find nothing but the same absences again.
def absent_frames(plan: StreamPlan, outcome: Outcome) -> int:
    """Of the frames skipped as too late, at most those that came due in time away.

    A loop that returns sends what came due in the last `catch_up_us` and skips the rest, so
    of each absence only what is longer explains a skipped frame. None is explained to probes,
    whose lateness has a rule of its own.
    """
    if plan.role != "load" or plan.rate_pps is None:
        return 0
    patience_ns = max(outcome.plan.catch_up_us, outcome.plan.stall_us) * 1e3
    loops = _sending(outcome.report.workers)
    away_ns = max((_beyond_ns(loop.gaps, patience_ns) for loop in loops), default=0.0)
    return min(outcome.counts(plan.stream).skipped, int(plan.rate_pps * away_ns / 1e9))


def _sending(workers: Sequence[WorkerCounts]) -> Sequence[WorkerCounts]:
    """The loops that send, where it is known of any: one that only receives delays no frame."""
    senders = [worker for worker in workers if worker.cycles.send.frames]
    return senders or workers


def _beyond_ns(gaps: Histogram, patience_ns: float) -> float:
    """What all gaps together last beyond `patience_ns` each, by the lowest value of each bucket."""
    lengths = ((bucket_bounds_ns(index)[0], count) for index, count in gaps.buckets)
    return sum((low_ns - patience_ns) * count for low_ns, count in lengths if low_ns > patience_ns)
