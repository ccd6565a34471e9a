"""`plimsoll tune audit`: whether a host is what the intent says."""

from __future__ import annotations

import json as json_text
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.audit_table import print_audit, print_fixes
from plimsoll.cli.bmc_options import BmcCredentialsOption, BmcOption, CaFileOption, with_bmc
from plimsoll.cli.options import JsonOption
from plimsoll.cli.tune_kube import ContextOption, FromOption, KubeOption, audit_of_cluster
from plimsoll.errors import InputError
from plimsoll.tune.audit.assumed_intent import assume_intent
from plimsoll.tune.audit.audit import Audit
from plimsoll.tune.audit.audit import audit as run_audit
from plimsoll.tune.host.host_view import HostView
from plimsoll.tune.host.live_host import LiveHost
from plimsoll.tune.host.open_capture import open_root
from plimsoll.tune.host.remote_host import view_over_ssh
from plimsoll.tune.intent.load import load_intent, preset_names
from plimsoll.tune.kube.cluster_audit import joined

_FAILED = 1


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(
        epilog="Examples: **plimsoll tune audit --intent intent.yaml** · "
        "**plimsoll tune audit --root host.tar.gz --json** · "
        "**plimsoll tune audit --kube --intent intent.yaml**"
    )(audit)


def audit(  # noqa: PLR0917 - the options of the command
    intent: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|PRESET",
            help="What the host is to be; by default what its kernel's command line isolates.",
            autocompletion=lambda: list(preset_names()),
        ),
    ] = None,
    root: Annotated[
        Path | None,
        typer.Option(
            metavar="CAPTURE",
            help="Judge this capture (an archive or directory), or a mounted root file system.",
        ),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            metavar="ssh://HOST", help="Judge this host, on which plimsoll is installed too."
        ),
    ] = None,
    bmc: BmcOption = None,
    bmc_credentials: BmcCredentialsOption = None,
    ca_file: CaFileOption = None,
    kube: KubeOption = False,
    context: ContextOption = None,
    gathered: FromOption = None,
    json: JsonOption = False,
    fix: Annotated[
        bool, typer.Option("--fix", help="Print what would set it right; nothing is run.")
    ] = False,
) -> None:
    """Compare a host, or a cluster, with its intent: one verdict per check, the worst first.

    Needs no root, changes nothing, and says what it could not read. Ends with 1 where a
    check failed.
    """
    cluster = audit_of_cluster(intent, kube=kube, context=context, gathered=gathered)
    if cluster is not None and root is None and host is None and bmc is None:
        # Who asks a cluster does so from elsewhere: this host is none of its nodes.
        done = cluster
    else:
        of_host = _audit(with_bmc(_view(root, host), bmc, bmc_credentials, ca_file), intent)
        done = of_host if cluster is None else joined(of_host, cluster)
    if json:
        typer.echo(json_text.dumps(_document(done), indent=2))
    elif fix:
        print_fixes(done)
    else:
        print_audit(done)
    if done.counts["fail"]:
        raise typer.Exit(_FAILED)


def _view(root: Path | None, host: str | None) -> HostView:
    """Of the host to be judged: this one, unless another is named."""
    if root is not None and host is not None:
        raise InputError("one host at a time", where="--host", remedy="leave out --root or --host")
    if host is not None:
        return view_over_ssh(host)
    return LiveHost() if root is None else open_root(root)


def _audit(view: HostView, intent: str | None) -> Audit:
    if intent is not None:
        return run_audit(view, load_intent(intent))
    assumed, source = assume_intent(view)
    return run_audit(view, assumed, assumed=source)


def _document(done: Audit) -> dict[str, object]:
    return {**asdict(done), "counts": done.counts}
