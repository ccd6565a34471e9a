"""The part of `plimsoll tune audit` that asks a cluster: its API, or a must-gather."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.errors import InputError
from plimsoll.host.kubernetes.api_client import connect
from plimsoll.tune.audit.audit import Audit
from plimsoll.tune.cluster.api_cluster import ApiCluster
from plimsoll.tune.cluster.cluster_audit import audit_cluster
from plimsoll.tune.cluster.cluster_view import ClusterView
from plimsoll.tune.cluster.must_gather import open_must_gather
from plimsoll.tune.intent.load import load_intent

KubeOption = Annotated[
    bool,
    typer.Option("--kube", help="Judge the cluster's objects, through the API that kubectl uses."),
]
ContextOption = Annotated[
    str | None, typer.Option(help="The kubeconfig's context, not its current one; with --kube.")
]
FromOption = Annotated[
    Path | None,
    typer.Option(
        "--from",
        metavar="MUST-GATHER",
        help="Judge the objects in this must-gather, a directory or an archive of one.",
    ),
]


def audit_of_cluster(
    intent: str | None, *, kube: bool, context: str | None, gathered: Path | None
) -> Audit | None:
    """The audit of the cluster that the options name; None where they name none.

    Raises InputError for options that do not go together, and without an intent.
    """
    if context is not None and not kube:
        raise InputError(
            "names a cluster, but none is to be read live", where="--context", remedy="add --kube"
        )
    if kube and gathered is not None:
        raise InputError(
            "a cluster is read either live or from a must-gather",
            where="--kube, --from",
            remedy="give one of the two",
        )
    if not kube and gathered is None:
        return None
    if intent is None:
        raise InputError(
            "objects can only be compared with an intent",
            where="--kube" if kube else "--from",
            remedy="give --intent with a file or a preset",
        )
    expected = load_intent(intent)
    return audit_cluster(_view(context, gathered), expected)


def _view(context: str | None, gathered: Path | None) -> ClusterView:
    return ApiCluster(connect(context)) if gathered is None else open_must_gather(gathered)
