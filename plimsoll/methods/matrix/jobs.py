"""A matrix on many test beds, from here: its job made, followed, its records joined, removed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.cluster.pods.cluster_client import ClusterClient
from plimsoll.cluster.pods.manifests import RUN_LABEL, owner_manifest
from plimsoll.cluster.pods.pod_plan import PodPlan
from plimsoll.cluster.pods.removal import remove_labelled
from plimsoll.cluster.pods.run_in_cluster import left, name_of, note_place
from plimsoll.errors import Interrupted
from plimsoll.export.object_store import Bucket
from plimsoll.export.record_store import fetch_records
from plimsoll.host.kubernetes.cluster_errors import ClusterUnreachable
from plimsoll.methods.matrix.job_cells import MatrixCell, cell_files, cells_of
from plimsoll.methods.matrix.job_manifest import job_manifest
from plimsoll.methods.matrix.plan import read_iteration
from plimsoll.methods.matrix.run import finished_sample
from plimsoll.record.run.run_directory import RunDirectory

_LOOK_S = 5.0
_PATIENCE_S = 600.0
NO_RECORD = "its index of the job left no record in the store"


@dataclass(frozen=True, slots=True)
class JobStore:
    """Where the records go: for us a bucket, for a pod its URL and a secret with the key."""

    bucket: Bucket
    url: str
    secret: str | None = None

    @property
    def arguments(self) -> tuple[str, ...]:
        """What a cell takes."""
        return (self.url, *filter(None, [self.bucket.endpoint]))


class MatrixJobs:
    """The job of one matrix run. Samples that have a result are not run again."""

    def __init__(
        self, client: ClusterClient, run: RunDirectory, store: JobStore, tell: Callable[[str], None]
    ) -> None:
        self._client = client
        self._run = run
        self._store = store
        self._tell = tell
        self._name = name_of(run)
        self._said = ""

    def execute(self, plan: PodPlan, queue: str | None) -> None:
        """Until no index runs any more, and all records are here; then nothing is left there.

        An interruption removes the job; a kill leaves it, and the next time it is followed.
        Raises LeftRunning where the cluster does not answer for long, and PlimsollError.
        """
        note_place(self._client, self._run)
        self.fetch()
        if self._client.read("Job", self._name) is None and not self._deploy(plan, queue):
            return
        try:
            self._follow()
        except (Interrupted, KeyboardInterrupt):
            self._remove()
            raise
        self.fetch()
        self._remove()

    def fetch(self) -> tuple[str, ...]:
        """Bring the records that are in the store into the samples' folders; their ids."""
        folders = {
            stored_id_of(self._run, each): self._run.path / each.folder
            for each in cells_of(self._run)
        }
        return fetch_records(self._store.bucket, self._run.path, directory=folders.get)

    def _deploy(self, plan: PodPlan, queue: str | None) -> bool:
        """Whether there was anything left to run."""
        cells = unfinished(self._run)
        if not cells:
            return False
        owner = owner_manifest(self._name, self._run.run_id, "")
        owner["data"] = dict(cell_files(self._run, cells))
        # One that a kill left may list other cells.
        self._client.delete("ConfigMap", self._name)
        made = self._client.create(owner)
        self._client.create(
            job_manifest(
                self._name,
                self._run.run_id,
                plan,
                made,
                count=len(cells),
                store=self._store.arguments,
                secret=self._store.secret,
                queue=queue,
            )
        )
        self._tell(
            f"job {self._name} in namespace {self._client.namespace}: {len(cells)} samples, as "
            "many at once as there is room for"
        )
        return True

    def _follow(self) -> None:
        answered_s = time.monotonic()
        while True:
            try:
                job = self._client.read("Job", self._name)
                answered_s = time.monotonic()
                if job is None or self._is_over(job):
                    return
            except ClusterUnreachable as error:
                if time.monotonic() - answered_s > _PATIENCE_S:
                    raise left(self._client, error) from error
            time.sleep(_LOOK_S)

    def _is_over(self, job: Mapping[str, Any]) -> bool:
        """Say how far it is, where that has changed."""
        status = job.get("status") or {}
        counts = ", ".join(
            f"{status.get(field) or 0} {word}"
            for field, word in (("active", "active"), ("succeeded", "done"), ("failed", "failed"))
        )
        if counts != self._said:
            self._said = counts
            self._tell(f"samples: {counts}")
        conditions = status.get("conditions") or ()
        return any(
            each.get("type") in ("Complete", "Failed") and each.get("status") == "True"
            for each in conditions
        )

    def _remove(self) -> None:
        for each in remove_labelled(self._client, f"{RUN_LABEL}={self._name}"):
            self._tell(f"removed {each}")


def read_experiment_of(run: RunDirectory) -> Experiment:
    """The first iteration's experiment, by which all of the job's pods are made."""
    return read_iteration(run, 1)


def unfinished(run: RunDirectory) -> tuple[MatrixCell, ...]:
    """The samples that have no result here."""
    return tuple(each for each in cells_of(run) if finished_sample(run, each.sample) is None)


def stored_id_of(run: RunDirectory, cell: MatrixCell) -> str:
    """What the sample is called in the store, whether it is here yet or not."""
    return ".".join([run.run_id, *cell.folder.split("/")])
