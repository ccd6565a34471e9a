"""A matrix on many test beds, from here: its job made, followed, its records joined, removed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.cluster.pods.cluster_client import ClusterClient
from plimsoll.cluster.pods.manifests import (
    RECORD,
    RUN_ANNOTATION,
    RUN_LABEL,
    owner_manifest,
    run_pod,
)
from plimsoll.cluster.pods.pod_plan import PodPlan
from plimsoll.cluster.pods.removal import remove_labelled
from plimsoll.cluster.pods.run_in_cluster import left, name_of, note_place
from plimsoll.errors import InputError, Interrupted
from plimsoll.export.object_store import Bucket
from plimsoll.export.record_store import fetch_records
from plimsoll.host.kubernetes.cluster_errors import ClusterUnreachable
from plimsoll.host.kubernetes.own_objects import MANAGED, NODE_LABEL
from plimsoll.methods.matrix.plan import read_iteration, read_plan, sample_folder
from plimsoll.methods.matrix.run import finished_sample
from plimsoll.methods.matrix.settings import Sample
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.tune.render.files.rendered_file import Manifest, manifest_of

_LOOK_S = 5.0
_PATIENCE_S = 600.0
NO_RECORD = "its index of the job left no record in the store"
# Of Kueue (its documentation, "Run Kubernetes Jobs"): it lets the job begin.
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
# Else it would wait until there are test beds for all samples at once, mostly for ever.
_AS_FEW_AS_ONE = {"kueue.x-k8s.io/job-min-parallelism": "1"}
_CELLS = "/etc/plimsoll"
CELLS_FILE = "cells.json"
# Of a config map in all (Kubernetes' API, ConfigMap), with room for its metadata.
_MAX_BYTES = 1000 * 1024


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


# The job of a matrix: an index a sample, as many at once as there are test beds for them.
#
# How many that is no one counts here: each pod asks for the CPUs, pages and virtual functions of a
# test bed and shares its node with no other of the job, so the scheduler, or Kueue where a queue is
# named, lets in as many as fit. Which nodes are test beds, the intent's node selector says.
def job_manifest(
    name: str,
    run_id: str,
    plan: PodPlan,
    owner: Mapping[str, Any],
    *,
    count: int,
    store: tuple[str, ...],
    secret: str | None,
    queue: str | None,
) -> Manifest:
    """The object. `store` is what the cell takes for where the records go.

    `secret` names a secret with the access key in AWS's variables; `queue` Kueue's local queue,
    which lets the job begin.
    """
    pod = _pod(run_pod(name, run_id, plan, owner), run_id, store, secret)
    labels = {**MANAGED, RUN_LABEL: name}
    manifest = manifest_of(
        "batch/v1",
        "Job",
        name,
        labels=labels | ({QUEUE_LABEL: queue} if queue else {}),
        annotations={RUN_ANNOTATION: run_id} | (_AS_FEW_AS_ONE if queue else {}),
        spec={
            "completionMode": "Indexed",
            "completions": count,
            "parallelism": count,
            # A sample that failed is not run again by itself, and keeps no other from being run.
            "backoffLimitPerIndex": 0,
            "maxFailedIndexes": count,
            "suspend": queue is not None,
            "template": {
                "metadata": {
                    "labels": pod["metadata"]["labels"],
                    "annotations": pod["metadata"]["annotations"],
                },
                "spec": pod["spec"],
            },
        },
    )
    manifest["metadata"]["ownerReferences"] = pod["metadata"]["ownerReferences"]
    return manifest


def _pod(pod: Manifest, run_id: str, store: tuple[str, ...], secret: str | None) -> Manifest:
    """The pod of a run with the cell's command, and without what waits for someone here."""
    spec = pod["spec"]
    runner, _ = spec["containers"]
    spec["containers"] = [runner]
    runner["command"] = [
        *("python3", "-m", "plimsoll.methods.matrix.job_cell", _CELLS, RECORD, run_id, *store)
    ]
    if secret:
        runner["envFrom"] = [{"secretRef": {"name": secret}}]
    spec["affinity"] = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {
                    "labelSelector": {"matchLabels": dict(MANAGED)},
                    "topologyKey": NODE_LABEL,
                }
            ]
        }
    }
    return pod


# The samples of a matrix as an indexed job takes them: by number, with their experiments.
@dataclass(frozen=True, slots=True)
class MatrixCell:
    """One sample: the folder of its run in the matrix's, and its experiment's file."""

    sample: Sample
    folder: str
    experiment: str


def cells_of(run: RunDirectory) -> tuple[MatrixCell, ...]:
    """Those of a matrix run, in the order of its plan. Raises RecordError."""
    return tuple(
        MatrixCell(
            sample,
            sample_folder(run, sample).relative_to(run.path).as_posix(),
            f"iteration-{sample.iteration}.yaml",
        )
        for sample in read_plan(run).in_order()
    )


def cell_files(run: RunDirectory, cells: tuple[MatrixCell, ...]) -> Mapping[str, str]:
    """The data of the config map: what each index is, and the experiments.

    Raises InputError where that is more than a config map holds.
    """
    experiments = {
        each.experiment: yaml.safe_dump(
            read_iteration(run, each.sample.iteration).normalised(), sort_keys=False
        )
        for each in cells
    }
    listed = [{"folder": each.folder, "experiment": each.experiment} for each in cells]
    files = {CELLS_FILE: json.dumps(listed), **experiments}
    size = sum(len(name.encode()) + len(text.encode()) for name, text in files.items())
    if size > _MAX_BYTES:
        raise InputError(
            f"{len(experiments)} experiments are {size >> 10} KiB, and a config map holds "
            f"{_MAX_BYTES >> 10}",
            where="matrix",
            remedy="split the matrix, or shorten the profile (pcap files are not taken along)",
        )
    return files
