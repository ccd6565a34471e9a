"""Limits that a cell is held against, by kind; those of pods and control planes need churn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.churn.driver.workload import PodKind
from plimsoll.churn.results.churn_result import (
    ControlPlaneFigures,
    Dip,
    LatencyFigures,
    PodReadiness,
    ProbeFigures,
    StreamFigures,
)
from plimsoll.record.trials.finding_record import FindingRecord
from plimsoll.record.trials.trial_record import Verdict
from plimsoll.text.units import DurationField, RatioField

_Quantile = Literal["p50", "p95", "p99"]


class CellFigures(BaseModel):
    """What there is to judge: `churned` says whether the cell churned anything."""

    model_config = ConfigDict(frozen=True)

    churned: bool
    streams: StreamFigures | None
    probe: ProbeFigures | None = None
    dips: tuple[Dip, ...]
    control_plane: ControlPlaneFigures


class _Criterion(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ThroughputKept(_Criterion):
    """The streams' mean must be at least this share of what it was before the churn."""

    kind: Literal["throughput-kept"]
    least: Annotated[RatioField, Field(gt=0, le=1)]

    def findings(self, cell: CellFigures) -> Iterator[FindingRecord]:
        """One."""
        kept = None if cell.streams is None else cell.streams.kept
        yield _judged(self.kind, "streams", kept, self.least, "share", most=False)


class DipDepth(_Criterion):
    """No dip may be deeper than this share of the throughput before the churn."""

    kind: Literal["dip-depth"]
    most: Annotated[RatioField, Field(gt=0, le=1)]

    def findings(self, cell: CellFigures) -> Iterator[FindingRecord]:
        """One: of the deepest dip."""
        deepest = None
        if cell.streams is not None:
            deepest = max((dip.depth for dip in cell.dips), default=0.0)
        yield _judged(self.kind, "streams", deepest, self.most, "share")


class UdpLatency(_Criterion):
    """A quantile of the latency that the UDP probes met next to the streams."""

    kind: Literal["udp-latency"]
    most: Annotated[DurationField, Field(gt=0)]
    quantile: Literal["p50", "p95", "p99", "p99_9"] = "p99"

    def findings(self, cell: CellFigures) -> Iterator[FindingRecord]:
        """One."""
        probe = cell.probe
        value = None if probe is None else float(getattr(probe, f"{self.quantile}_us")) / 1e6
        yield _judged(self.kind, f"{self.quantile} of UDP probes", value, self.most, "s")


class UdpLoss(_Criterion):
    """The share of the probes' datagrams that never came."""

    kind: Literal["udp-loss"]
    most: Annotated[RatioField, Field(ge=0, le=1)]

    def findings(self, cell: CellFigures) -> Iterator[FindingRecord]:
        """One."""
        loss = None if cell.probe is None else cell.probe.loss
        yield _judged(self.kind, "UDP probes", loss, self.most, "share")


class PodReadinessLimit(_Criterion):
    """A quantile of the time that pods take to be ready, by our own watch; of one kind, or each."""

    kind: Literal["pod-readiness"]
    most: Annotated[DurationField, Field(gt=0)]
    quantile: _Quantile = "p99"
    pods: PodKind | None = None

    def findings(self, cell: CellFigures) -> Iterator[FindingRecord]:
        """One for each kind of pod; none of a cell that makes no pods."""
        if not cell.churned:
            return
        found = [
            each
            for each in cell.control_plane.readiness
            if each.kind != ALL_PODS and self.pods in (None, each.kind)
        ]
        for each in found:
            yield self._finding(each)
        if not found:
            yield _judged(self.kind, "pods", None, self.most, "s")

    def _finding(self, readiness: PodReadiness) -> FindingRecord:
        """By both ends of what is known to a second: in between it cannot be judged."""
        subject = f"{self.quantile} of {readiness.kind} pods"
        low, value, high = (
            getattr(each, f"{self.quantile}_ms") / 1e3
            for each in (readiness.low or readiness, readiness, readiness.high or readiness)
        )
        found = _judged(self.kind, subject, value, self.most, "s")
        if low > self.most or high <= self.most:
            return found
        text = f"{subject}: {low:.4g} to {high:.4g} s, to be at most {self.most:g}: cannot tell"
        return found.model_copy(update={"outcome": "invalid", "text": text})


class ApiServerLatency(_Criterion):
    """A quantile of the API server's read-only or mutating requests."""

    kind: Literal["apiserver-latency"]
    requests: Literal["read-only", "mutating"]
    most: Annotated[DurationField, Field(gt=0)]
    quantile: _Quantile = "p99"

    def findings(self, cell: CellFigures) -> Iterator[FindingRecord]:
        """One."""
        value = _latency_s(cell.control_plane.requests_by_kind, self.requests, self.quantile)
        yield _judged(self.kind, f"{self.quantile} of {self.requests}", value, self.most, "s")


class EtcdLatency(_Criterion):
    """A quantile of one of etcd's latencies."""

    kind: Literal["etcd-latency"]
    of: Literal["wal-fsync", "backend-commit", "peer-round-trip"]
    most: Annotated[DurationField, Field(gt=0)]
    quantile: _Quantile = "p99"

    def findings(self, cell: CellFigures) -> Iterator[FindingRecord]:
        """One."""
        value = _latency_s(cell.control_plane.etcd, self.of, self.quantile)
        yield _judged(self.kind, f"{self.quantile} of {self.of}", value, self.most, "s")


# In the figures of readiness: all kinds together.
ALL_PODS = "all"
ChurnCriterion = Annotated[
    ThroughputKept
    | DipDepth
    | UdpLatency
    | UdpLoss
    | PodReadinessLimit
    | ApiServerLatency
    | EtcdLatency,
    Field(discriminator="kind"),
]


def judge(
    criteria: Sequence[ChurnCriterion], cell: CellFigures
) -> tuple[tuple[FindingRecord, ...], Verdict]:
    """What the criteria find, and the verdict: "none" where there is nothing to judge."""
    findings = tuple(finding for each in criteria for finding in each.findings(cell))
    outcomes = {finding.outcome for finding in findings}
    if "fail" in outcomes:
        return findings, "fail"
    if "invalid" in outcomes:
        return findings, "invalid"
    return findings, "pass" if findings else "none"


def _judged(
    rule: str, subject: str, value: float | None, limit: float, unit: str, *, most: bool = True
) -> FindingRecord:
    word = "at most" if most else "at least"
    if value is None:
        text = f"{subject}: nothing was measured, to be {word} {limit:g} {unit}"
        outcome: Literal["ok", "fail", "invalid"] = "invalid"
    else:
        kept = value <= limit if most else value >= limit
        outcome = "ok" if kept else "fail"
        text = f"{subject}: {value:.4g} {unit}, to be {word} {limit:g}"
    return FindingRecord(
        rule=rule,
        subject=subject,
        value=value,
        limit=limit,
        unit=unit,
        outcome=outcome,
        text=text,
    )


def _latency_s(figures: Sequence[LatencyFigures], name: str, quantile: _Quantile) -> float | None:
    for each in figures:
        if each.name == name:
            value_ms: float | None = getattr(each, f"{quantile}_ms")
            return None if value_ms is None else value_ms / 1e3
    return None
