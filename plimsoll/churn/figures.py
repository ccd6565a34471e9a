"""What a cell's raw samples come to; pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean, pstdev

from plimsoll.churn.criteria.criteria import ALL_PODS
from plimsoll.churn.driver.driver import ChurnPhase
from plimsoll.churn.driver.pod_watch import READY, PodTimes
from plimsoll.churn.driver.workload import POD_KINDS
from plimsoll.churn.kpis.histogram import (
    CumulativeHistogram,
    kube_burner_quantile,
    sample_quantile,
)
from plimsoll.churn.kpis.latencies import (
    MUTATING,
    READ_ONLY,
    etcd_latencies,
    request_latencies,
)
from plimsoll.churn.kpis.sampler import APISERVER, ETCD, KpiReading
from plimsoll.churn.results.churn_result import (
    ChurnPhaseRecord,
    ComponentUsage,
    ControlPlaneFigures,
    Dip,
    LatencyFigures,
    Match,
    PodReadiness,
    ReadinessEnd,
    StreamFigures,
)
from plimsoll.churn.settings import DipSettings, StreamSettings
from plimsoll.churn.streams.dips import (
    DipRule,
    RateOver,
    TimeSpan,
    find_dips,
    match,
    matched_event,
    mean_bps,
    reference_of,
    total_rates,
    within,
)
from plimsoll.churn.streams.iperf3 import Throughput
from plimsoll.errors import MachineError

_MACHINE = "machine"


@dataclass(frozen=True, slots=True)
class CellTimes:
    """Of a cell, in ns since the epoch: its begin, that of its churn, its end."""

    begin_ns: int
    churn_ns: int
    end_ns: int

    @property
    def churn_s(self) -> float:
        """The begin of the churn, from that of the cell."""
        return (self.churn_ns - self.begin_ns) / 1e9

    @property
    def length_s(self) -> float:
        """Of the cell."""
        return (self.end_ns - self.begin_ns) / 1e9


@dataclass(frozen=True, slots=True)
class StreamOutcome:
    """What the streams did, which dips they had, and how these match with the churn."""

    figures: StreamFigures
    dips: tuple[Dip, ...]
    match: Match


def stream_outcome(
    throughputs: Sequence[Throughput],
    times: CellTimes,
    phases: Sequence[ChurnPhase],
    streams: StreamSettings,
    dips: DipSettings,
) -> StreamOutcome:
    """Of one cell. Raises MachineError where nothing was carried before the churn."""
    series = [_rates(each, times) for each in throughputs]
    rates = within(total_rates(series, streams.step), 0, times.length_s)
    before, after = within(rates, 0, times.churn_s), within(rates, times.churn_s, math.inf)
    if not before or not after or (reference := reference_of(before)).bps == 0:
        raise MachineError(
            "the streams carried nothing before the churn, or not until its end",
            where="streams",
            remedy="look whether the network carries them at all",
        )
    rule = DipRule(dips.least, dips.sigmas, dips.join)
    found = find_dips(after, reference, rule)
    spans = [phase.within(times.begin_ns) for phase in phases]
    whole = TimeSpan(after[0].begin_s, after[-1].end_s)
    matched = match(found, spans, whole, dips.lag)
    figures = StreamFigures(
        pairs=len(throughputs),
        reference_bps=reference.bps,
        mean_bps=mean_bps(after),
        least_bps=min(each.bps for each in after),
        theoretical_bps=streams.theoretical_bps,
        noise=pstdev(each.bps for each in before) / reference.bps,
        pairs_mean_bps=tuple(
            mean_bps(within(each, times.churn_s, times.length_s)) for each in series
        ),
        retransmits=sum(each.retransmits for each in throughputs),
        connect_s=max(each.connect_s for each in throughputs),
        nodes=tuple(each.nodes for each in throughputs if each.nodes is not None),
        clock_error_s=max(each.clock_error_ns for each in throughputs) / 1e9,
    )
    records = [
        dip
        if (place := matched_event(dip, spans, dips.lag)) is None
        else dip.model_copy(update={"cycle": phases[place].cycle})
        for dip in found
    ]
    return StreamOutcome(figures, tuple(records), matched)


def control_plane_figures(
    readings: Sequence[KpiReading],
    pods: Sequence[PodTimes],
    failures: dict[str, str],
    prometheus: dict[str, float | None] | None,
) -> ControlPlaneFigures:
    """Of what happened between the first reading and the last."""
    first, last = readings[0], readings[-1]
    requests, by_kind = _requests(first, last)
    etcd: tuple[LatencyFigures, ...] = ()
    if ETCD in first.scrapes and ETCD in last.scrapes:
        found = etcd_latencies(last.scrapes[ETCD], first.scrapes[ETCD])
        etcd = tuple(_latency(name, buckets) for name, buckets in found.items())
    return ControlPlaneFigures(
        readiness=tuple(_readiness(pods)),
        requests=requests,
        requests_by_kind=by_kind,
        etcd=etcd,
        usage=tuple(_usage(readings)),
        prometheus=prometheus,
        unread=failures,
    )


def phase_record(phase: ChurnPhase) -> ChurnPhaseRecord:
    """As it is recorded."""
    return ChurnPhaseRecord(
        cycle=phase.cycle,
        kind=phase.kind,
        namespaces=len(phase.namespaces),
        begin_unix_ns=phase.begin_ns,
        end_unix_ns=phase.end_ns,
        made_unix_ns=phase.made_ns,
        complete=phase.complete,
    )


def _rates(throughput: Throughput, times: CellTimes) -> list[RateOver]:
    def seconds(at_ns: int) -> float:
        return (at_ns - times.begin_ns) / 1e9

    return [
        RateOver(seconds(begin_ns), seconds(end_ns), bps)
        for begin_ns, end_ns, bps in zip(
            throughput.begin_ns, throughput.end_ns, throughput.bps, strict=True
        )
    ]


def _readiness(pods: Sequence[PodTimes]) -> Iterator[PodReadiness]:
    """Of each kind that became ready, and of all together."""
    for kind in (ALL_PODS, *POD_KINDS):
        of_kind = [pod for pod in pods if kind in (ALL_PODS, pod.kind)]
        timed = [(ms, pod.listed) for pod in of_kind if (ms := pod.ready_ms) is not None]
        ready = [ms for ms, _ in timed]
        if not ready:
            continue
        whole = [s for pod in of_kind if (s := pod.condition_s(READY)) is not None]
        low, high = _ends(of_kind)
        yield PodReadiness(
            kind=kind,
            pods=len(ready),
            **_end(ready).model_dump(),
            by_conditions=sum(listed for _, listed in timed),
            low=low,
            high=high,
            condition_p50_s=kube_burner_quantile(whole, 50),
            condition_p95_s=kube_burner_quantile(whole, 95),
            condition_p99_s=kube_burner_quantile(whole, 99),
            condition_max_s=max(whole, default=None),
        )


def _ends(pods: Sequence[PodTimes]) -> tuple[ReadinessEnd | None, ReadinessEnd | None]:
    """What they took at least and at most; None where that is the same."""
    between = [ms for pod in pods if (ms := pod.ready_between_ms) is not None]
    if all(low == high for low, high in between):
        return None, None
    lows, highs = zip(*between, strict=True)
    return _end(lows), _end(highs)


def _end(ready_ms: Sequence[float]) -> ReadinessEnd:
    p50, p95, p99 = (sample_quantile(ready_ms, q) or 0.0 for q in (0.5, 0.95, 0.99))
    return ReadinessEnd(p50_ms=p50, p95_ms=p95, p99_ms=p99, max_ms=max(ready_ms))


def _requests(
    first: KpiReading, last: KpiReading
) -> tuple[tuple[LatencyFigures, ...], tuple[LatencyFigures, ...]]:
    """By verb and resource, the most frequent first, and by kind."""
    if APISERVER not in first.scrapes or APISERVER not in last.scrapes:
        return (), ()
    found = request_latencies(last.scrapes[APISERVER], first.scrapes[APISERVER])
    rows = sorted(found.by_request.items(), key=lambda each: -each[1].count)
    by_request = []
    for labels, buckets in rows:
        named = dict(labels)
        by_request.append(
            _latency(named["kind"], buckets, verb=named["verb"], resource=named["resource"])
        )
    by_kind = [
        _latency(kind, of_kind)
        for kind in (READ_ONLY, MUTATING)
        if (of_kind := found.of_kind(kind)) is not None
    ]
    return tuple(by_request), tuple(by_kind)


def _latency(
    name: str, buckets: CumulativeHistogram, verb: str = "", resource: str = ""
) -> LatencyFigures:
    p50, p95, p99 = (buckets.quantile(q) for q in (0.5, 0.95, 0.99))
    return LatencyFigures(
        name=name,
        verb=verb,
        resource=resource,
        count=buckets.count,
        p50_ms=_ms(p50),
        p95_ms=_ms(p95),
        p99_ms=_ms(p99),
    )


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3


def _usage(readings: Sequence[KpiReading]) -> Iterator[ComponentUsage]:
    """Of processes of this machine, else what API server and etcd say of themselves."""
    first, last = readings[0], readings[-1]
    seconds = (last.at_ns - first.at_ns) / 1e9
    for name in first.usages.keys() & last.usages.keys():
        yield ComponentUsage(
            component=name,
            cores=(last.usages[name].cpu_s - first.usages[name].cpu_s) / seconds,
            resident_bytes=mean(
                each.usages[name].resident_bytes for each in readings if name in each.usages
            ),
        )
    if first.machine is not None and last.machine is not None:
        yield ComponentUsage(
            component=_MACHINE,
            cores=(last.machine.cpu_s - first.machine.cpu_s) / seconds,
            resident_bytes=mean(
                each.machine.resident_bytes for each in readings if each.machine is not None
            ),
        )
    for name in (first.scrapes.keys() & last.scrapes.keys()) - first.usages.keys():
        yield from _own_usage(name, readings)


def _own_usage(name: str, readings: Sequence[KpiReading]) -> Iterator[ComponentUsage]:
    scrapes = [each.scrapes[name] for each in readings if name in each.scrapes]
    cpu = [scrape.value("process_cpu_seconds_total") for scrape in scrapes]
    memory = [scrape.value("process_resident_memory_bytes") for scrape in scrapes]
    known = [each for each in memory if each is not None]
    seconds = (scrapes[-1].at_ns - scrapes[0].at_ns) / 1e9
    if cpu[0] is not None and cpu[-1] is not None and known and cpu[-1] >= cpu[0]:
        yield ComponentUsage(
            component=name, cores=(cpu[-1] - cpu[0]) / seconds, resident_bytes=mean(known)
        )
