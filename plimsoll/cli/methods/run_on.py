"""`plimsoll run --on kube://…`: the run in a pod, its record and its words here."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.cluster.pods.cluster_client import ClusterClient
from plimsoll.cluster.pods.place import ClusterPlace
from plimsoll.cluster.pods.pod_plan import IMAGE_VARIABLE, plan_pods
from plimsoll.cluster.pods.run_in_cluster import ClusterRun, place_of
from plimsoll.record.results.result import Result, read_result
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.terminal.output import labelled, say, stderr

OnOption = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="kube://CONTEXT[/NAMESPACE]",
        help="Run in a pod of this cluster; the record is brought here. A resumed run goes on "
        "where it was.",
    ),
]
ImageOption = Annotated[
    str | None,
    typer.Option(help=f"The pod's image (make image), by default ${IMAGE_VARIABLE}; with --on."),
]


def chosen_place(on: str | None, resume: Path | None) -> ClusterPlace | None:
    """Where to run: as named, else where the run that is resumed was. Raises InputError."""
    if on is not None:
        return ClusterPlace.parse(on)
    was = place_of(resume) if resume is not None else None
    if was is None:
        return None
    return ClusterPlace(ClusterPlace.parse(was["on"]).context, was["namespace"])


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
