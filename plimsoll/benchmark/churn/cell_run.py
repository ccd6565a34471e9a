"""Runs one cell: streams, churn and readings at once, and what they come to."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from plimsoll.benchmark.churn.bed import ClusterBed
from plimsoll.benchmark.churn.cells import ChurnCellPlan, chance_of
from plimsoll.benchmark.churn.criteria.criteria import CellFigures, judge
from plimsoll.benchmark.churn.driver.churn_event import ChurnPhase
from plimsoll.benchmark.churn.driver.churn_plan import ChurnPlan
from plimsoll.benchmark.churn.driver.driver import ChurnDriver
from plimsoll.benchmark.churn.driver.pod_watch import PodWatch
from plimsoll.benchmark.churn.figures import (
    CellTimes,
    StreamOutcome,
    control_plane_figures,
    phase_record,
    stream_outcome,
)
from plimsoll.benchmark.churn.kpis.prometheus import Stretch
from plimsoll.benchmark.churn.kpis.sampler import KpiSampler, sampling
from plimsoll.benchmark.churn.raw_record import ScrapeFiles, write_metrics
from plimsoll.benchmark.churn.settings import ChurnExperiment, ChurnSettings, StreamSettings
from plimsoll.benchmark.churn.streams.networks import network
from plimsoll.benchmark.churn.streams.streams import Streams, TcpStreamPlan, Throughput, streaming
from plimsoll.errors import MachineError
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.record.results.churn_result import ChurnCell, WorkloadRecord
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
            _prometheus(session, phase.begin_ns, phase.end_ns),
        ),
    )
    return record, phase.complete


def run_cell(session: ChurnSession, cell: ChurnCellPlan, period: str) -> ChurnCell:
    """One cell, its metrics written. Raises MachineError where a part of it dies."""
    experiment = session.experiment
    with ExitStack() as stack:
        streams = None
        if experiment.streams is not None:
            streams = stack.enter_context(_streams(session, experiment.streams, cell, period))
            _wait(session, _WARM_UP_S, streams)
        sampler = stack.enter_context(_readings(session, period))
        raw = _churn(session, cell, sampler, streams)
        if streams is not None:
            raw.throughputs = streams.stop()
    pods = session.watch.pods(raw.times.begin_ns)
    write_metrics(session.run, period, sampler.readings, pods, raw.throughputs)
    return _cell(session, cell, period, raw, sampler)


def _churn(
    session: ChurnSession, cell: ChurnCellPlan, sampler: KpiSampler, streams: Streams | None
) -> _Raw:
    settings = session.experiment.churn
    begin_ns = time.time_ns()
    _wait(session, settings.before, streams)
    churn_ns = time.time_ns()
    sampler.read()
    raw = _Raw(CellTimes(begin_ns, churn_ns, churn_ns))
    plan = _plan(session.experiment, cell.percent)
    if plan.churned:
        chance = chance_of(cell, session.experiment.seed or 0)
        session.driver.churn(plan, chance, raw.phases.append)
    else:
        _wait(session, settings.duration, streams)
    _wait(session, settings.after, streams)
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
        _prometheus(session, times.churn_ns, times.end_ns),
    )
    dips = () if outcome is None else outcome.dips
    findings, verdict = judge(
        experiment.criteria,
        CellFigures(
            churned=bool(raw.phases),
            streams=None if outcome is None else outcome.figures,
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
        dips=dips,
        match=None if outcome is None else outcome.match,
        control_plane=figures,
        findings=findings,
        verdict=verdict,
        reason=reason,
    )


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
def _streams(
    session: ChurnSession, settings: StreamSettings, cell: ChurnCellPlan, period: str
) -> Iterator[Streams]:
    rate_bps = None if settings.rate_mbps is None else settings.rate_mbps * 1e6
    plan = TcpStreamPlan(rate_bps, settings.interval)
    with (
        network(settings.networks[cell.network], settings.pairs, session.ledger) as fabric,
        streaming(fabric, plan, session.ledger, period) as streams,
    ):
        yield streams
        fabric.check()


@contextmanager
def _readings(session: ChurnSession, period: str) -> Iterator[KpiSampler]:
    files = ScrapeFiles(session.run, period)
    with sampling(session.bed.targets, session.experiment.sample, files.keep) as sampler:
        yield sampler


def _prometheus(
    session: ChurnSession, begin_ns: int, end_ns: int
) -> dict[str, float | None] | None:
    """Of the cluster's own Prometheus; what it does not answer costs no cell."""
    client = session.bed.prometheus
    if client is None:
        return None
    try:
        return client.figures(Stretch(begin_ns / 1e9, end_ns / 1e9))
    except MachineError:
        return {}


def _wait(session: ChurnSession, seconds: float, streams: Streams | None) -> None:
    """Sleep, and look whether all that is to run still does."""
    deadline = time.monotonic() + seconds
    while (left_s := deadline - time.monotonic()) > 0:
        session.bed.check()
        if streams is not None:
            streams.check()
        time.sleep(min(_CHECK_S, left_s))


def cells_left(planned: Sequence[ChurnCellPlan], done: Sequence[ChurnCell]) -> list[ChurnCellPlan]:
    """Those that have not come to their end."""
    ended = {(each.network, each.percent, each.repetition) for each in done}
    return [cell for cell in planned if (cell.network, cell.percent, cell.repetition) not in ended]
