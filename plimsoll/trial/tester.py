"""Whether the tester itself was fit to judge by."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict

from plimsoll.generator.interface import PortCounts, WorkerCounts
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.units import DurationField, RatioField, format_ns, format_pps, format_ratio
from plimsoll.trial.finding import Finding, FindingOutcome
from plimsoll.trial.outcome import Outcome


class TesterLimits(BaseModel):
    """How far the tester may stray before its trial says nothing about the DUT."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    # Both tolerances are trafficgen's defaults.
    rate_tolerance: RatioField = 0.05
    runtime_tolerance: RatioField = 0.05
    max_stall: DurationField = 0.05
    max_stalled_share: RatioField = 0.05

    def findings(self, outcome: Outcome) -> list[Finding]:
        """Every rule applied to the tester's part in a trial, kept or broken."""
        return [
            *(self._offered_rate(plan, outcome) for plan in outcome.plan.streams),
            *self._runtime(outcome),
            *(self._worst_stall(worker) for worker in outcome.report.workers),
            *(self._stalled_share(worker, outcome) for worker in outcome.report.workers),
            *_negative_losses(outcome),
            *(each for port in outcome.report.ports for each in _port_findings(port)),
        ]

    def _offered_rate(self, plan: StreamPlan, outcome: Outcome) -> Finding:
        wanted = plan.rate_pps * outcome.report.sending_s
        offered = outcome.offered(plan.stream)
        strayed = abs(offered - wanted) / wanted if wanted else 1.0
        # A frame more or less is how the last one fell, at any rate.
        within_a_frame = wanted > 0 and abs(offered - wanted) <= 1
        return Finding(
            rule="offered-rate",
            subject=plan.name,
            value=strayed,
            limit=self.rate_tolerance,
            unit="ratio",
            outcome=_fit(strayed <= self.rate_tolerance or within_a_frame),
            text=f"{plan.name}: the tester offered {offered:,} of {wanted:,.0f} frames at "
            f"{format_pps(plan.rate_pps)}, {format_ratio(strayed)} off; "
            f"at most {format_ratio(self.rate_tolerance)} allowed",
        )

    def _runtime(self, outcome: Outcome) -> list[Finding]:
        """Nothing for a trial stopped on purpose: the judge sees to those."""
        if outcome.report.ended_by == "stop":
            return []
        wanted, ran = outcome.plan.duration_s, outcome.report.sending_s
        strayed = abs(ran - wanted) / wanted
        finding = Finding(
            rule="runtime",
            subject="trial",
            value=strayed,
            limit=self.runtime_tolerance,
            unit="ratio",
            outcome=_fit(strayed <= self.runtime_tolerance),
            text=f"the tester sent for {ran:.4g} s of {wanted:.4g} s, {format_ratio(strayed)} "
            f"off; at most {format_ratio(self.runtime_tolerance)} allowed",
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

    def _stalled_share(self, worker: WorkerCounts, outcome: Outcome) -> Finding:
        watched_s = outcome.report.sending_s + outcome.plan.drain_s
        share = worker.stalled_ns / 1e9 / watched_s if watched_s else 1.0
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


def _negative_losses(outcome: Outcome) -> Iterable[Finding]:
    for plan in outcome.plan.streams:
        lost = outcome.lost(plan.stream)
        if lost < 0:
            text = f"{plan.name}: {-lost:,} more frames came back than were offered"
            yield _frame_finding("negative-loss", plan.name, lost, text)


def _port_findings(port: PortCounts) -> Iterable[Finding]:
    subject = f"port {port.port}"
    if not port.link_up:
        text = f"the link of {subject} went down"
        yield Finding("link", subject, None, None, "", "invalid", text)
    stale = f"{subject}: {port.stale:,} frames of another trial came in"
    yield _frame_finding("stale-frames", subject, port.stale, stale)
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
