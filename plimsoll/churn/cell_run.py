"""Runs one cell: streams, churn and readings at once, and what they come to."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from plimsoll.churn.bed import ClusterBed
from plimsoll.churn.criteria.criteria import CellFigures, judge
from plimsoll.churn.driver.driver import ChurnDriver, ChurnPhase, ChurnPlan
from plimsoll.churn.driver.pod_watch import PodWatch
from plimsoll.churn.figures import (
    CellTimes,
    StreamOutcome,
    control_plane_figures,
    phase_record,
    stream_outcome,
)
from plimsoll.churn.kpis.prometheus import Stretch
from plimsoll.churn.kpis.sampler import KpiSampler, sampling
from plimsoll.churn.latency.probes import ProbeLog, Probes, p99_within, probe_figures, probing
from plimsoll.churn.pod_streams.pod_streams import pod_streaming
from plimsoll.churn.pod_streams.stream_pods import ClusterNetwork, StreamPodPlan
from plimsoll.churn.raw_record import ScrapeFiles, keep_probe_logs, write_metrics
from plimsoll.churn.results.churn_result import ChurnCell, Dip, WorkloadRecord
from plimsoll.churn.settings import (
    ChurnCellPlan,
    ChurnExperiment,
    ChurnSettings,
    StreamSettings,
    chance_of,
)
from plimsoll.churn.streams.iperf3 import TcpStreamPlan, Throughput
from plimsoll.churn.streams.networks import network
from plimsoll.churn.streams.streams import Streams, streaming
from plimsoll.errors import MachineError
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.record.run.run_directory import RunDirectory

# A stream's first second is TCP's slow start.
_WARM_UP_S = 2.0
_CHECK_S = 0.5


@dataclass(frozen=True)
class ChurnSession:
    """What all cells of a session have in common."""

    experiment: ChurnExperiment
    run: RunDirectory
    ledger: Ledger
    bed: ClusterBed
    driver: ChurnDriver
    watch: PodWatch


@dataclass
class _Raw:
    """What a cell leaves before anything is made of it."""

    times: CellTimes
    phases: list[ChurnPhase] = field(default_factory=list)
    throughputs: tuple[Throughput, ...] = ()
    probes: tuple[ProbeLog, ...] = ()


class _Traffic(Protocol):
    """What is sent while a cell lasts."""

    def check(self) -> None:
        """Raise MachineError where some of it has ended."""

    def stop(self) -> tuple[tuple[Throughput, ...], tuple[ProbeLog, ...]]:
        """End all of it, and say what it did. Raises MachineError."""


@dataclass(frozen=True)
class _LocalTraffic:
    """Between network namespaces of this machine."""

    streams: Streams
    probes: Probes | None

    def check(self) -> None:
        """Raise MachineError where some of it has ended."""
        self.streams.check()
        if self.probes is not None:
            self.probes.check()

    def stop(self) -> tuple[tuple[Throughput, ...], tuple[ProbeLog, ...]]:
        """End all of it, and say what it did. Raises MachineError."""
        throughputs = self.streams.stop()
        return throughputs, () if self.probes is None else self.probes.stop()


def create_workload(session: ChurnSession, period: str) -> tuple[WorkloadRecord, bool]:
    """Make all namespaces, and whether their pods became ready in time. Raises MachineError."""
    workload, namespaces = session.bed.workload, session.experiment.workload.namespaces
    with _readings(session, period) as sampler:
        phase = session.driver.create(range(namespaces))
    pods = session.watch.pods(phase.begin_ns)
    write_metrics(session.run, period, sampler.readings, pods, ())
    record = WorkloadRecord(
        period=period,
        namespaces=namespaces,
        objects=workload.objects_made,
        pods=workload.objects.pods,
        missing=tuple(sorted(workload.missing)),
        creation=phase_record(phase),
        control_plane=control_plane_figures(
            sampler.readings,
            pods,
            sampler.failures,
            _prometheus(session, sampler.failures, phase.begin_ns, phase.end_ns),
        ),
    )
    return record, phase.complete


def run_cell(session: ChurnSession, cell: ChurnCellPlan, period: str) -> ChurnCell:
    """One cell, its metrics written. Raises MachineError where a part of it dies."""
    experiment = session.experiment
    with ExitStack() as stack:
        traffic = None
        if experiment.streams is not None:
            traffic = stack.enter_context(_traffic(session, experiment.streams, cell, period))
            _wait(session, _WARM_UP_S, traffic)
        sampler = stack.enter_context(_readings(session, period))
        raw = _churn(session, cell, sampler, traffic)
        if traffic is not None:
            raw.throughputs, raw.probes = traffic.stop()
    pods = session.watch.pods(raw.times.begin_ns)
    keep_probe_logs(session.run, period, raw.probes)
    write_metrics(session.run, period, sampler.readings, pods, raw.throughputs, probes=raw.probes)
    return _cell(session, cell, period, raw, sampler)


def _churn(
    session: ChurnSession, cell: ChurnCellPlan, sampler: KpiSampler, traffic: _Traffic | None
) -> _Raw:
    settings = session.experiment.churn
    begin_ns = time.time_ns()
    _wait(session, settings.before, traffic)
    churn_ns = time.time_ns()
    sampler.read()
    raw = _Raw(CellTimes(begin_ns, churn_ns, churn_ns))
    plan = _plan(session.experiment, cell.percent)
    if plan.churned:
        chance = chance_of(cell, session.experiment.seed or 0)
        session.driver.churn(plan, chance, raw.phases.append)
    else:
        _wait(session, settings.duration, traffic)
    _wait(session, settings.after, traffic)
    raw.times = CellTimes(begin_ns, churn_ns, time.time_ns())
    return raw


def _cell(
    session: ChurnSession, cell: ChurnCellPlan, period: str, raw: _Raw, sampler: KpiSampler
) -> ChurnCell:
    experiment, times = session.experiment, raw.times
    outcome: StreamOutcome | None = None
    if experiment.streams is not None:
        outcome = stream_outcome(
            raw.throughputs, times, raw.phases, experiment.streams, experiment.dips
        )
    figures = control_plane_figures(
        [each for each in sampler.readings if each.at_ns >= times.churn_ns],
        session.watch.pods(times.churn_ns),
        sampler.failures,
        _prometheus(session, sampler.failures, times.churn_ns, times.end_ns),
    )
    dips = () if outcome is None else tuple(_with_latency(outcome.dips, raw))
    probe = probe_figures(raw.probes, times.begin_ns, times.churn_ns) if raw.probes else None
    findings, verdict = judge(
        experiment.criteria,
        CellFigures(
            churned=bool(raw.phases),
            streams=None if outcome is None else outcome.figures,
            probe=probe,
            dips=dips,
            control_plane=figures,
        ),
    )
    reason = "; ".join(each.text for each in findings if each.outcome != "ok") or None
    if late := [phase for phase in raw.phases if not phase.complete]:
        verdict, reason = "fail", _late_words(late[0], experiment.workload.timeout)
    return ChurnCell(
        network=cell.network,
        percent=cell.percent,
        repetition=cell.repetition,
        period=period,
        begin_unix_ns=times.begin_ns,
        churn_begin_unix_ns=times.churn_ns,
        end_unix_ns=times.end_ns,
        phases=tuple(phase_record(each) for each in raw.phases),
        streams=None if outcome is None else outcome.figures,
        probe=probe,
        dips=dips,
        match=None if outcome is None else outcome.match,
        control_plane=figures,
        findings=findings,
        verdict=verdict,
        reason=reason,
    )


def _with_latency(dips: Sequence[Dip], raw: _Raw) -> Iterator[Dip]:
    """Each dip with what the probes met in it."""
    for dip in dips:
        begin_ns = raw.times.begin_ns + round(dip.begin_s * 1e9)
        end_ns = raw.times.begin_ns + round(dip.end_s * 1e9)
        p99_us = p99_within(raw.probes, begin_ns, end_ns)
        yield dip.model_copy(update={"probe_p99_us": p99_us})


def _late_words(phase: ChurnPhase, timeout_s: float) -> str:
    what = "gone" if phase.kind == "delete" else "ready"
    return f"cycle {phase.cycle}: not everything was {what} within {timeout_s:g} s"


def _plan(experiment: ChurnExperiment, percent: float) -> ChurnPlan:
    settings: ChurnSettings = experiment.churn
    return ChurnPlan(
        iterations=experiment.workload.namespaces,
        percent=percent,
        duration_s=settings.duration,
        cycles=settings.cycles,
        delay_s=float(settings.delay),
        deletion_delay_s=float(settings.deletion_delay),
    )


@contextmanager
def _traffic(
    session: ChurnSession, settings: StreamSettings, cell: ChurnCellPlan, period: str
) -> Iterator[_Traffic]:
    rate_bps = None if settings.rate_mbps is None else settings.rate_mbps * 1e6
    plan = TcpStreamPlan(rate_bps, settings.interval)
    named = settings.networks[cell.network]
    if isinstance(named, ClusterNetwork):
        pods, mark = settings.pods, session.bed.workload.run
        assert pods is not None  # noqa: S101 - the settings have seen to it
        pod_plan = StreamPodPlan(mark, period, pods, named, plan, settings.latency_probe)
        with pod_streaming(session.bed.client, pod_plan, settings.pairs) as streams:
            yield streams
        return
    with ExitStack() as stack:
        fabric = stack.enter_context(network(named, settings.pairs, session.ledger))
        local_streams = stack.enter_context(streaming(fabric, plan, session.ledger, period))
        probes = None
        if settings.latency_probe is not None:
            probes = stack.enter_context(
                probing(fabric, settings.latency_probe, session.ledger, period)
            )
        yield _LocalTraffic(local_streams, probes)
        fabric.check()


@contextmanager
def _readings(session: ChurnSession, period: str) -> Iterator[KpiSampler]:
    files = ScrapeFiles(session.run, period)
    with sampling(session.bed.targets, session.experiment.sample, files.keep) as sampler:
        yield sampler


def _prometheus(
    session: ChurnSession, failures: dict[str, str], begin_ns: int, end_ns: int
) -> dict[str, float | None] | None:
    """Of the cluster's own Prometheus; one that does not answer costs no cell, and is noted."""
    client = session.bed.prometheus
    if client is None:
        return None
    try:
        return client.figures(Stretch(begin_ns / 1e9, end_ns / 1e9))
    except MachineError as error:
        failures["prometheus"] = str(error)
        return None


def _wait(session: ChurnSession, seconds: float, traffic: _Traffic | None) -> None:
    """Sleep, and look whether all that is to run still does."""
    deadline = time.monotonic() + seconds
    while (left_s := deadline - time.monotonic()) > 0:
        session.bed.check()
        if traffic is not None:
            traffic.check()
        time.sleep(min(_CHECK_S, left_s))


def cells_left(planned: Sequence[ChurnCellPlan], done: Sequence[ChurnCell]) -> list[ChurnCellPlan]:
    """Those that have not come to their end."""
    ended = {(each.network, each.percent, each.repetition) for each in done}
    return [cell for cell in planned if (cell.network, cell.percent, cell.repetition) not in ended]
