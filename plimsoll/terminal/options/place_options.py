"""Where a run takes place: here, or in pods of a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cluster.pods.cluster_client import ClusterPlace
from plimsoll.cluster.pods.pod_plan import IMAGE_VARIABLE
from plimsoll.cluster.pods.run_in_cluster import place_of

OnOption = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="kube://CONTEXT[/NAMESPACE]",
        help="Run in a pod of this cluster; the record is brought here. A resumed run continues "
        "where it ran before: on this host or in the cluster.",
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
