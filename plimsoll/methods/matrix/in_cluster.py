"""`plimsoll matrix --on kube://…`: the samples as a job, their records through a store."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from plimsoll.cluster.pods.cluster_client import ClusterClient
from plimsoll.cluster.pods.place import ClusterPlace
from plimsoll.cluster.pods.pod_plan import IMAGE_VARIABLE, plan_pods
from plimsoll.errors import InputError
from plimsoll.export.object_store import Bucket
from plimsoll.methods.matrix.jobs import JobStore, MatrixJobs, read_experiment_of
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.terminal.output import say

EndpointOption = Annotated[
    str | None, typer.Option(help="The store's URL; by default AWS_ENDPOINT_URL's.")
]


def store_of(url: str | None, endpoint: str | None, secret: str | None) -> JobStore:
    """Where records go. Raises InputError."""
    if url is None:
        raise InputError(
            "the samples' records need a place that their pods and this machine reach",
            where="--store",
            remedy="write --store s3://bucket/prefix",
        )
    return JobStore(Bucket.of(url, endpoint), url, secret)


def run_jobs(
    place: ClusterPlace,
    directory: RunDirectory,
    image: str | None,
    store: JobStore,
    queue: str | None,
) -> None:
    """Run the samples that have no result, and bring the records of all. Raises PlimsollError."""
    first = read_experiment_of(directory)
    chosen = image or os.environ.get(IMAGE_VARIABLE)
    plan = plan_pods(first, chosen, hugepages=first.require_hugepages)
    MatrixJobs(ClusterClient.connect(place), directory, store, say).execute(plan, queue)
