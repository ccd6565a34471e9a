"""`--on` of `plimsoll runs`: what runs have in a Kubernetes cluster, and its removal."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated, Any

import typer

from plimsoll.cluster.pods.cluster_client import ClusterClient, ClusterPlace
from plimsoll.cluster.pods.manifests import RUN_LABEL
from plimsoll.cluster.pods.removal import found_runs, remove_labelled
from plimsoll.errors import InputError
from plimsoll.terminal.output import stdout

_ON = typer.Option(metavar="kube://CONTEXT[/NAMESPACE]", help="The cluster and namespace.")
OfClusterOption = Annotated[str | None, _ON]
_WITH_ON = frozenset({"on", "json"})


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(
        epilog="Examples: **plimsoll runs clean --on kube://lab/bench** · "
        "**plimsoll runs clean --on kube://lab/bench --run plimsoll-1f2e3d4c5b**",
    )(clean)


def print_runs(place: str, context: typer.Context, *, as_json: bool) -> None:
    """The runs that have pods, jobs or config maps there; options of a folder's are refused.

    Raises InputError, and what the cluster's client raises.
    """
    for name in context.params.keys() - _WITH_ON:
        if _is_given(context, name):
            option = f"--{name.replace('_', '-')}"
            raise InputError("is of a folder's runs", where=option, remedy=f"drop {option}")
    found = found_runs(ClusterClient.connect(ClusterPlace.parse(place)))
    if as_json:
        typer.echo(json.dumps([asdict(each) for each in found], indent=2))
        return
    for each in found:
        stdout.print(f"{each.name}  {each.run_id}  {', '.join(each.objects)}", highlight=False)


def _is_given(context: Any, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def clean(
    on: Annotated[str, _ON],
    run: Annotated[
        str | None, typer.Option(help="Only this one, by its name in the list; else all.")
    ] = None,
) -> None:
    """Delete what runs left in a cluster's namespace, including runs that are still running."""
    client = ClusterClient.connect(ClusterPlace.parse(on))
    removed = list(remove_labelled(client, f"{RUN_LABEL}={run}" if run else ""))
    for each in removed:
        stdout.print(f"removed {each}", highlight=False)
    if not removed:
        stdout.print("nothing of Plimsoll's is there", highlight=False)
