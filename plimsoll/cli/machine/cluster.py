"""`plimsoll cluster`: what runs have in a Kubernetes cluster, and its removal."""

from __future__ import annotations

import json as json_format
from dataclasses import asdict
from typing import Annotated

import typer

from plimsoll.cluster.pods.cluster_client import ClusterClient
from plimsoll.cluster.pods.manifests import RUN_LABEL
from plimsoll.cluster.pods.place import ClusterPlace
from plimsoll.cluster.pods.removal import found_runs, remove_labelled
from plimsoll.terminal.options.options import JsonOption
from plimsoll.terminal.output import stdout

_PlaceArgument = Annotated[
    str, typer.Argument(metavar="kube://CONTEXT[/NAMESPACE]", help="The cluster and namespace.")
]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    cluster = typer.Typer(
        help="Runs in a Kubernetes cluster: list what they have there, remove it.",
        no_args_is_help=True,
        rich_markup_mode="markdown",
    )
    cluster.command("list", epilog="Example: **plimsoll cluster list kube://lab/bench**")(list_runs)
    cluster.command(
        "clean",
        epilog="Examples: **plimsoll cluster clean kube://lab/bench** · "
        "**plimsoll cluster clean kube://lab/bench --run plimsoll-1f2e3d4c5b**",
    )(clean)
    app.add_typer(cluster, name="cluster")


def list_runs(place: _PlaceArgument, json: JsonOption = False) -> None:
    """List the runs that have pods, jobs or config maps in the namespace."""
    found = found_runs(ClusterClient.connect(ClusterPlace.parse(place)))
    if json:
        typer.echo(json_format.dumps([asdict(each) for each in found], indent=2))
        return
    for each in found:
        stdout.print(f"{each.name}  {each.run_id}  {', '.join(each.objects)}", highlight=False)


def clean(
    place: _PlaceArgument,
    run: Annotated[
        str | None, typer.Option(help="Only this one, by its name in the list; else all.")
    ] = None,
) -> None:
    """Delete what runs left in the namespace, those that go on still included."""
    client = ClusterClient.connect(ClusterPlace.parse(place))
    removed = list(remove_labelled(client, f"{RUN_LABEL}={run}" if run else ""))
    for each in removed:
        stdout.print(f"removed {each}", highlight=False)
    if not removed:
        stdout.print("nothing of Plimsoll's is there", highlight=False)
