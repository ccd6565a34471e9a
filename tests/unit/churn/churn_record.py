"""The record of a churn run with two networks at two levels, made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from plimsoll.churn.raw_record import write_metrics
from plimsoll.churn.results.churn_result import (
    CELL,
    WORKLOAD,
    ChurnCell,
    ChurnPhaseRecord,
    ChurnResult,
    ComponentUsage,
    ControlPlaneFigures,
    Dip,
    LatencyFigures,
    Match,
    PodReadiness,
    ProbeFigures,
    StreamFigures,
    WorkloadRecord,
)
from plimsoll.churn.settings import of_record
from plimsoll.churn.streams.iperf3 import Throughput
from plimsoll.record.run.journal import RUN_STARTED, Journal
from plimsoll.record.run.result_file import finish_run
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.finding_record import FindingRecord

S = 1_000_000_000
BEGIN = 1_700_000_000 * S
EXPERIMENT = {
    "name": "made-up",
    "cluster": {"kind": "own", "nodes": 3},
    "streams": {"networks": {"macvlan": {"kind": "macvlan"}, "ovn": {"kind": "ovn"}}},
    "seed": 5,
}


def phase(kind: str, begin_s: int, end_s: int) -> ChurnPhaseRecord:
    """Of cycle 1, in s from the begin of a cell."""
    return ChurnPhaseRecord(
        cycle=1,
        kind=kind,  # type: ignore[arg-type]
        namespaces=2,
        begin_unix_ns=BEGIN + begin_s * S,
        end_unix_ns=BEGIN + end_s * S,
        made_unix_ns=BEGIN + (end_s - 1) * S if kind == "create" else None,
        complete=True,
    )


def figures(cores: float, readiness: bool) -> ControlPlaneFigures:
    """Of a control plane whose API server took so many CPUs."""
    ready = PodReadiness(
        kind="dpdk",
        pods=4,
        p50_ms=900.0,
        p95_ms=1500.0,
        p99_ms=2460.0,
        max_ms=2500.0,
        condition_p50_s=1,
        condition_p95_s=2,
        condition_p99_s=2.5,
        condition_max_s=3,
    )
    mutating = LatencyFigures(name="mutating", count=1234, p50_ms=8.0, p95_ms=20.0, p99_ms=37.5)
    posts = mutating.model_copy(update={"verb": "POST", "resource": "pods"})
    fsync = LatencyFigures(name="wal-fsync", count=99, p50_ms=1.0, p95_ms=3.0, p99_ms=4.25)
    return ControlPlaneFigures(
        readiness=(ready,) if readiness else (),
        requests=(posts,),
        requests_by_kind=(mutating,),
        etcd=(fsync,),
        usage=(ComponentUsage(component="kube-apiserver", cores=cores, resident_bytes=300 << 20),),
    )


def cell(number: int, network: str, percent: float, kept: float) -> ChurnCell:
    """With one dip, where it is churned."""
    phases = (phase("delete", 10, 14), phase("create", 14, 20)) if percent else ()
    dips = (Dip(begin_s=12, end_s=15, depth=0.4, lost_bits=30e6, cycle=1),) if percent else ()
    return ChurnCell(
        network=network,
        percent=percent,
        repetition=1,
        period=f"trial-{number:04}",
        begin_unix_ns=BEGIN,
        churn_begin_unix_ns=BEGIN + 10 * S,
        end_unix_ns=BEGIN + 30 * S,
        phases=phases,
        streams=StreamFigures(
            pairs=2,
            reference_bps=60e6,
            mean_bps=kept * 60e6,
            least_bps=36e6,
            theoretical_bps=60e6,
            noise=0.002,
            pairs_mean_bps=(kept * 30e6, kept * 30e6),
            retransmits=7,
            connect_s=0.02,
        ),
        dips=dips,
        match=Match(
            dips=len(dips),
            matched=len(dips),
            chance=0.6 if percent else None,
            p=0.55 if percent else None,
        ),
        control_plane=figures(1 + percent / 100, bool(percent)),
        findings=(
            FindingRecord(
                rule="throughput-kept",
                subject="streams",
                value=kept,
                limit=0.9,
                unit="share",
                outcome="ok" if kept >= 0.9 else "fail",
                text=f"streams: {kept:g} share, to be at least 0.9",
            ),
        ),
        verdict="pass" if kept >= 0.9 else "fail",
    )


CELLS = (
    cell(2, "ovn", 100, 0.81),
    cell(3, "ovn", 0, 1.0),
    cell(4, "macvlan", 100, 0.98),
    cell(5, "macvlan", 0, 1.0),
)
CREATION = WorkloadRecord(
    period="trial-0001",
    namespaces=2,
    objects=128,
    pods=52,
    missing=("routes",),
    creation=phase("create", 0, 9),
    control_plane=figures(1.0, readiness=True),
)


def with_probe(cell: ChurnCell) -> ChurnCell:
    """The cell with a probe that lost two of a thousand datagrams, and waited in the dips."""
    probe = ProbeFigures(
        pairs=1,
        sent=1000,
        lost=2,
        unsent=7,
        duplicates=0,
        before_p50_us=10.25,
        before_p99_us=20.5,
        p50_us=12.0,
        p95_us=50.0,
        p99_us=1234.5,
        p99_9_us=2000.0,
        max_us=2500.0,
        histogram=((11, 500), (12, 488), (2500, 10)),
    )
    dips = tuple(dip.model_copy(update={"probe_p99_us": 2345.6}) for dip in cell.dips)
    return cell.model_copy(update={"probe": probe, "dips": dips})


def with_fsync(cell: ChurnCell, p99_ms: float) -> ChurnCell:
    """The cell, its store's WAL synced in that time."""
    (fsync,) = cell.control_plane.etcd
    etcd = (fsync.model_copy(update={"p99_ms": p99_ms}),)
    control_plane = cell.control_plane.model_copy(update={"etcd": etcd})
    return cell.model_copy(update={"control_plane": control_plane})


def write_churn_run(
    folder: Path, *, finished: bool = True, cells: Sequence[ChurnCell] = CELLS
) -> RunDirectory:
    """A run directory with all of it, or with its first two cells and no end."""
    experiment = of_record(EXPERIMENT)
    run = RunDirectory.create(folder, "made-up", experiment.normalised())
    cells = cells if finished else cells[:2]
    with Journal(run.journal) as journal:
        journal.append(RUN_STARTED, method="churn", settings={})
        journal.append(WORKLOAD, workload=CREATION.model_dump(mode="json"))
        for each in cells:
            write_metrics(run, each.period, (), (), _throughputs())
            journal.append(CELL, cell=each.model_dump(mode="json"))
        if finished:
            finish_run(run, journal, _result(run, cells))
    return run


def _result(run: RunDirectory, cells: Sequence[ChurnCell]) -> ChurnResult:
    return ChurnResult(
        run_id=run.run_id,
        name="made-up",
        seed=5,
        networks=("macvlan", "ovn"),
        levels=(0, 100),
        repetitions=1,
        fake_nodes=3,
        workloads=(CREATION,),
        cells=tuple(cells),
        notes=(),
        versions={"kubernetes": "v1.34.4"},
    )


def _throughputs() -> tuple[Throughput, ...]:
    begins = tuple(BEGIN + n * S for n in range(30))
    ends = tuple(begin + S for begin in begins)
    return tuple(
        Throughput(pair, begins, ends, (30e6,) * 30, 0, "iperf 3.12", 0.0) for pair in (1, 2)
    )
