"""Stretches of a noise measurement added up."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from heapq import nlargest
from itertools import pairwise

from plimsoll.attribution.explanation.sentence import sentence
from plimsoll.attribution.incidents.incident import Explanation
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.attribution.ranking.rank import rank
from plimsoll.benchmark.noise.stretch import NoiseStretch
from plimsoll.generator.histogram import Histogram, bucket_bounds_ns, merge
from plimsoll.generator.interface import WorkerCounts
from plimsoll.record.causes.causes_record import Confidence, ExplainedIncident, RankedCause
from plimsoll.record.results.noise_result import CpuNoise, GapBucket, GapQuantile, NoiseCause
from plimsoll.record.trials.clock_fit import ClockFit

QUANTILES = (0.5, 0.99, 0.999, 0.9999, 0.99999)
MAX_WORST = 20
REST = "before and after the causes named, outside of what the kernel records"
# Up to a second; whatever is longer is in the last bucket.
_BUCKETS_FROM_NS = (0, *(step * 10**power for power in range(2, 9) for step in (1, 2, 5)), 10**9)
_CONFIDENCES: tuple[Confidence, ...] = ("exact", "partial", "counter", "unexplained")


@dataclass
class _Cpu:
    measured_ns: int = 0
    gaps: Histogram = field(default_factory=Histogram)
    stalls: int = 0
    stalled_ns: int = 0


@dataclass
class _Sum:
    row: RankedCause
    confidences: dict[Confidence, int] = field(default_factory=dict)


@dataclass
class NoiseSummary:
    """Takes stretches as they end, and keeps what does not grow with their number."""

    loops: Sequence[PollingLoop]
    listed_stalls: int = 0
    listed_ns: int = 0
    events: int = 0
    lost_events: int = 0
    incomplete_stretches: int = 0
    worst: tuple[ExplainedIncident, ...] = ()
    own_ns: int = 0
    _cpus: dict[int, _Cpu] = field(default_factory=dict)
    _causes: dict[tuple[object, ...], _Sum] = field(default_factory=dict)

    def add(self, stretch: NoiseStretch) -> None:
        """Take one more."""
        for worker in stretch.report.workers:
            self._add_worker(worker, round(stretch.report.sending_s * 1e9))
        for row in rank(map(name_rest, stretch.explanations)):
            self._add_cause(row)
        self.listed_stalls += len(stretch.explanations)
        self.listed_ns += sum(each.incident.length_ns for each in stretch.explanations)
        self.events += stretch.events
        self.lost_events += stretch.lost_events
        self.incomplete_stretches += not stretch.trace_complete
        self._keep_worst(stretch)

    def cpus(self) -> tuple[CpuNoise, ...]:
        """By number."""
        return tuple(_cpu_noise(cpu, found) for cpu, found in sorted(self._cpus.items()))

    def causes(self) -> tuple[NoiseCause, ...]:
        """That which had the CPUs longest first; those of unknown length last."""
        found = [_cause(each, self._cpus) for each in self._causes.values()]
        return tuple(sorted(found, key=lambda row: (-(row.total_ns or 0), -row.incidents)))

    def _add_worker(self, worker: WorkerCounts, measured_ns: int) -> None:
        cpu = self._cpus.setdefault(worker.cpu, _Cpu())
        cpu.measured_ns += measured_ns
        cpu.gaps = merge([cpu.gaps, worker.gaps])
        cpu.stalls += worker.stalls
        cpu.stalled_ns += worker.stalled_ns

    def _add_cause(self, row: RankedCause) -> None:
        key = (row.kind, row.name, row.owner, row.cpu, row.own)
        found = self._causes.get(key)
        if found is None:
            found = self._causes[key] = _Sum(row)
        else:
            found.row = _together(found.row, row)
        found.confidences[row.confidence] = found.confidences.get(row.confidence, 0) + row.incidents

    def _keep_worst(self, stretch: NoiseStretch) -> None:
        clock = ClockFit.of(stretch.report.clock)
        longest = nlargest(
            MAX_WORST, stretch.explanations, key=lambda each: each.incident.length_ns
        )
        found = [*self.worst, *(_explained(each, clock, self.loops) for each in longest)]
        self.worst = tuple(nlargest(MAX_WORST, found, key=lambda each: each.length_ns))


def name_rest(explanation: Explanation) -> Explanation:
    """With the unexplained rest of a stall that has causes named apart from a whole stall.

    Such a rest comes with every interrupt: the kernel records it after entering and before
    leaving, and what a hypervisor or the CPU needs around that is not in its events.
    """
    if not any(cause.confidence in ("exact", "partial") for cause in explanation.causes):
        return explanation
    causes = tuple(
        cause.model_copy(update={"name": REST}) if cause.kind == "unexplained" else cause
        for cause in explanation.causes
    )
    return replace(explanation, causes=causes)


def gap_buckets(gaps: Histogram) -> tuple[GapBucket, ...]:
    """From the first to the last that has some. A gap counts where its own bucket begins."""
    counts = [0] * len(_BUCKETS_FROM_NS)
    for index, count in gaps.buckets:
        counts[bisect_right(_BUCKETS_FROM_NS, bucket_bounds_ns(index)[0]) - 1] += count
    filled = [place for place, count in enumerate(counts) if count]
    if not filled:
        return ()
    ends = [*(after for _, after in pairwise(_BUCKETS_FROM_NS)), None]
    return tuple(
        GapBucket(from_ns=_BUCKETS_FROM_NS[place], below_ns=ends[place], count=counts[place])
        for place in range(filled[0], filled[-1] + 1)
    )


def _cpu_noise(cpu: int, found: _Cpu) -> CpuNoise:
    gaps = found.gaps
    quantiles = zip(QUANTILES, gaps.quantiles_ns(QUANTILES), strict=False)
    return CpuNoise(
        cpu=cpu,
        measured_ns=found.measured_ns,
        looks=gaps.count,
        min_ns=gaps.min_ns,
        max_ns=gaps.max_ns,
        quantiles=tuple(GapQuantile(quantile=q, ns=ns) for q, ns in quantiles),
        buckets=gap_buckets(gaps),
        stalls=found.stalls,
        stalled_ns=found.stalled_ns,
        stalled_share=min(1.0, found.stalled_ns / max(1, found.measured_ns)),
    )


def _cause(found: _Sum, cpus: dict[int, _Cpu]) -> NoiseCause:
    row = found.row
    measured_ns = sum(each.measured_ns for cpu, each in cpus.items() if row.cpu in (None, cpu))
    known = row.total_ns is not None and measured_ns > 0
    confidence = max(_CONFIDENCES, key=lambda each: found.confidences.get(each, 0))
    return NoiseCause.model_validate(
        row.model_dump()
        | {
            "confidence": confidence,
            "time_share": (row.total_ns or 0) / measured_ns if known else None,
        }
    )


def _together(one: RankedCause, other: RankedCause) -> RankedCause:
    return RankedCause(
        kind=one.kind,
        name=one.name,
        owner=one.owner,
        cpu=one.cpu,
        own=one.own,
        occurrences=one.occurrences + other.occurrences,
        incidents=one.incidents + other.incidents,
        loss_share=None,
        spike_share=None,
        total_ns=_either(sum, (one.total_ns, other.total_ns)),
        worst_ns=_either(max, (one.worst_ns, other.worst_ns)),
        confidence=one.confidence,
        remedy=one.remedy,
    )


def _either(of: Callable[[list[int]], int], values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return of(known) if known else None


def _explained(
    explanation: Explanation, clock: ClockFit, loops: Sequence[PollingLoop]
) -> ExplainedIncident:
    incident = explanation.incident
    return ExplainedIncident(
        **asdict(incident),
        begin_unix_ns=clock.unix_ns(incident.begin_tsc),
        sentence=sentence(explanation, loops),
        causes=explanation.causes,
    )
