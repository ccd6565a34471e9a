"""A churn run: begun or gone on with, cell by cell, until its result."""

from __future__ import annotations

import platform
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from plimsoll.benchmark.session.session import versions
from plimsoll.churn.bed import check_cluster, cluster_bed
from plimsoll.churn.cell_run import ChurnSession, cells_left, create_workload, run_cell
from plimsoll.churn.driver.driver import TokenBucket, driving
from plimsoll.churn.driver.pod_watch import watching
from plimsoll.churn.result import METHOD
from plimsoll.churn.results.churn_result import (
    CELL,
    WORKLOAD,
    ChurnCell,
    ChurnResult,
    WorkloadRecord,
)
from plimsoll.churn.settings import ChurnCellPlan, ChurnExperiment, OwnCluster, in_order, of_record
from plimsoll.errors import Interrupted, MachineError
from plimsoll.host.ledger.janitor import swept_ledger
from plimsoll.record.index.summarise import note_summary
from plimsoll.record.metrics.metrics import convert_leftovers
from plimsoll.record.run.file_check import FileChecksums
from plimsoll.record.run.journal import (
    PERIOD_BEGUN,
    RUN_RESUMED,
    RUN_STARTED,
    Journal,
    JournalContents,
    read_journal,
)
from plimsoll.record.run.listed_files import GROWING_FILES
from plimsoll.record.run.result_file import finish_run, read_run_result, restore_result
from plimsoll.record.run.run_directory import RunDirectory, trial_period

_INTERRUPTED = "interrupted"
# What goes on, for people.
OnNote = Callable[[str], None]


def begin_churn(experiment: ChurnExperiment, runs: Path) -> RunDirectory:
    """Make the directory of a new run, its seed drawn. Raises RecordError and MachineError."""
    check_cluster(experiment)
    seed = secrets.randbelow(2**32) if experiment.seed is None else experiment.seed
    drawn = experiment.model_copy(update={"seed": seed})
    return RunDirectory.create(runs, experiment.name, drawn.normalised())


def run_churn(run: RunDirectory, note: OnNote) -> ChurnResult:
    """Run, or go on with, what `begin_churn` has prepared.

    Cells that have come to their end are kept; one that was cut short is run anew. Raises
    PlimsollError for what the user can fix.
    """
    experiment = of_record(run.read_experiment())
    with run.lock():
        convert_leftovers(run)
        restore_result(run)
        finished = read_run_result(run, ChurnResult)
        if finished is not None:
            note("this run has already finished and keeps its result")
            return finished
        check_cluster(experiment)
        with Journal(run.journal) as journal:
            return _ChurnRun(experiment, run, journal, note).execute()


def recorded_cells(journal: JournalContents) -> tuple[ChurnCell, ...]:
    """The cells that have come to their end, in order."""
    return tuple(
        ChurnCell.model_validate(event.fields.get("cell")) for event in journal.of_kind(CELL)
    )


def recorded_workloads(journal: JournalContents) -> tuple[WorkloadRecord, ...]:
    """The workload as each session made it."""
    return tuple(
        WorkloadRecord.model_validate(event.fields.get("workload"))
        for event in journal.of_kind(WORKLOAD)
    )


@dataclass
class _ChurnRun:
    """One session of a run."""

    experiment: ChurnExperiment
    run: RunDirectory
    journal: Journal
    note: OnNote

    def execute(self) -> ChurnResult:
        """Run the cells that are left, and say what all of them found."""
        self._seals = FileChecksums(self.run, self._history())
        left = self._begin_or_resume()
        version: str | None = None
        if left:
            with self._session() as session:
                version = session.bed.version
                for number, cell in enumerate(left, start=1):
                    self.note(f"cell {number} of {len(left)}: {cell.label}")
                    self._run(session, cell)
        result = self._result(version)
        self._seals.record(self.journal)
        finish_run(self.run, self.journal, result)
        note_summary(self.run)
        return result

    def _begin_or_resume(self) -> list[ChurnCellPlan]:
        experiment = self.experiment
        planned = in_order(
            experiment.networks,
            experiment.churn.levels,
            experiment.repetitions,
            experiment.seed or 0,
        )
        history = self._history()
        if not history.events:
            self.journal.append(
                RUN_STARTED,
                method=METHOD.name,
                versions=versions(None),
                settings={},
                growing=list(GROWING_FILES),
            )
            note_summary(self.run)
            return planned
        done = recorded_cells(history)
        self.journal.append(RUN_RESUMED, cells=len(done), versions=versions(None))
        self.note(f"resuming: {len(done)} of {len(planned)} cells have come to their end")
        return cells_left(planned, done)

    @contextmanager
    def _session(self) -> Iterator[ChurnSession]:
        """The cluster with its workload, all of it removed in the end."""
        settings = self.experiment.workload
        try:
            with swept_ledger(METHOD.name) as ledger:
                self.note("bringing the cluster up")
                with (
                    cluster_bed(self.experiment, ledger, self.run.path) as bed,
                    watching(bed.client, bed.workload.selector) as watch,
                    driving(
                        bed.client,
                        bed.workload,
                        watch,
                        limit=TokenBucket(settings.qps, settings.burst),
                        timeout_s=settings.timeout,
                        # Our own cluster goes as a whole.
                        removing=bed.plane is None,
                    ) as driver,
                ):
                    session = ChurnSession(self.experiment, self.run, ledger, bed, driver, watch)
                    self._create(session)
                    yield session
        except (Interrupted, KeyboardInterrupt):
            self.journal.append(_INTERRUPTED)
            raise

    def _create(self, session: ChurnSession) -> None:
        workload = session.bed.workload
        self.note(
            f"making {session.experiment.workload.namespaces} namespaces of "
            f"{workload.objects_made} objects and {workload.objects.pods} pods each"
        )
        record, complete = create_workload(session, self._next_period())
        self.journal.append(WORKLOAD, workload=record.model_dump(mode="json"))
        if not complete:
            raise MachineError(
                f"not all pods became ready within {session.experiment.workload.timeout:g} s",
                where="workload",
                remedy="look at kubectl get events, ask for fewer resources, or give it more time",
            )

    def _run(self, session: ChurnSession, planned: ChurnCellPlan) -> None:
        cell = run_cell(session, planned, self._next_period())
        self.journal.append(CELL, cell=cell.model_dump(mode="json"))
        self._seals.record(self.journal)
        if any(not phase.complete for phase in cell.phases):
            # What is left of the cycle would be in the next cell's way.
            self.note(f"{planned.label}: {cell.reason}; making the workload anew")
            session.driver.remove_all()
            self._create(session)

    def _next_period(self) -> str:
        """One that was never used, also not by a cell that was cut short."""
        number = 1 + len(self._history().of_kind(PERIOD_BEGUN))
        period = trial_period(number)
        self.journal.append(PERIOD_BEGUN, period=period)
        self._seals.begin_period(period)
        return period

    def _history(self) -> JournalContents:
        return read_journal(self.run.journal)

    def _result(self, version: str | None) -> ChurnResult:
        history, experiment = self._history(), self.experiment
        cluster = experiment.cluster
        return ChurnResult(
            run_id=self.run.run_id,
            name=experiment.name,
            seed=experiment.seed or 0,
            networks=experiment.networks,
            levels=experiment.churn.levels,
            repetitions=experiment.repetitions,
            fake_nodes=cluster.nodes if isinstance(cluster, OwnCluster) else None,
            workloads=recorded_workloads(history),
            cells=recorded_cells(history),
            notes=notes(experiment),
            versions={
                **versions(None),
                "kubernetes": version,
                "kernel": platform.release(),
            },
        )


def notes(experiment: ChurnExperiment) -> tuple[str, ...]:
    """What a reader must know of a run before its figures."""
    found = []
    if isinstance(experiment.cluster, OwnCluster):
        found.append(
            "The nodes are made up: no container is started, and pod readiness is that of API "
            "server, scheduler and controllers alone."
        )
        found.append(
            "Streams, control plane and its load share this machine's CPUs: compare the "
            "throughput of a network with its own before the churn, not with a link's."
        )
    if experiment.streams is not None and experiment.streams.pods is not None:
        found.append(
            "Streams run between pods of the cluster. What arrived is timed by the client's node, "
            "whose clock is held against this machine's at the end of each stream."
        )
    elif experiment.streams is not None:
        found.append(
            "Streams run between network namespaces of this machine over one virtual cable, "
            "not between pods of the cluster."
        )
    return tuple(found)
