"""`plimsoll run --on kube://…`: the run in a pod, its record and its words here."""

from __future__ import annotations

import os

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.cluster.pods.cluster_client import ClusterClient
from plimsoll.cluster.pods.place import ClusterPlace
from plimsoll.cluster.pods.pod_plan import IMAGE_VARIABLE, plan_pods
from plimsoll.cluster.pods.run_in_cluster import ClusterRun
from plimsoll.record.results.result import Result, read_result
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.terminal.output import labelled, say, stderr


def run_in_cluster(
    place: ClusterPlace, experiment: Experiment, directory: RunDirectory, image: str | None
) -> tuple[Result | None, int]:
    """Its result, where it has one, and its exit status. Raises PlimsollError."""
    stderr.print(labelled("run:", directory.path), soft_wrap=True)
    client = ClusterClient.connect(place)
    chosen = image or os.environ.get(IMAGE_VARIABLE)
    plan = plan_pods(experiment, chosen, hugepages=experiment.require_hugepages)
    status = ClusterRun(client, directory, experiment, say).execute(plan)
    return read_result(directory), status
