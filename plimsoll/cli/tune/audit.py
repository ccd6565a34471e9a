"""`plimsoll tune audit`: whether a host is what the intent says."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.errors import TESTER_COULD_NOT_TELL, InputError
from plimsoll.host.kubernetes.api_client import connect
from plimsoll.record.run.audit_record import AuditRecord
from plimsoll.terminal.options.bmc_options import (
    BmcCredentialsOption,
    BmcOption,
    CaFileOption,
    HostOption,
    RootOption,
    chosen_host,
    with_bmc,
)
from plimsoll.terminal.options.options import JsonOption
from plimsoll.terminal.tables.audit_table import print_audit, print_fixes
from plimsoll.tune.audit.audit import Audit, look
from plimsoll.tune.audit.audit import audit as run_audit
from plimsoll.tune.audit.without_intent import assume_intent
from plimsoll.tune.cluster.api_cluster import ApiCluster
from plimsoll.tune.cluster.cluster_audit import audit_cluster, joined
from plimsoll.tune.cluster.must_gather import open_must_gather
from plimsoll.tune.cluster.object_judgement import ClusterView
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.load import load_intent, preset_names

_FAILED = 1
_WITHOUT_INTENT = (
    "Beyond that it warns of what no dataplane wants and shows what it read of the rest; plimsoll "
    "tune init proposes an intent to judge it by"
)
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

_IntentOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|PRESET",
        help="The expected settings of the host; by default what its kernel's "
        "command line isolates.",
        autocompletion=lambda: list(preset_names()),
    ),
]
_FixOption = Annotated[
    bool, typer.Option("--fix", help="Print what would set it right; nothing is run.")
]


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(
        epilog="Examples: **plimsoll tune audit --intent intent.yaml** · "
        "**plimsoll tune audit --root host.tar.gz --json** · "
        "**plimsoll tune audit --kube --intent intent.yaml**"
    )(audit)


def audit(  # noqa: PLR0917 - the options of the command
    intent: _IntentOption = None,
    root: RootOption = None,
    host: HostOption = None,
    bmc: BmcOption = None,
    bmc_credentials: BmcCredentialsOption = None,
    ca_file: CaFileOption = None,
    kube: KubeOption = False,
    context: ContextOption = None,
    gathered: FromOption = None,
    json: JsonOption = False,
    fix: _FixOption = False,
) -> None:
    """Compare a host, or a cluster, with its intent: one verdict per check, the worst first.

    Without an intent it shows what it read, and warns of what no packet dataplane wants.
    **plimsoll tune init** proposes an intent for a host.

    Needs no root, changes nothing, and says what it could not read. Exits with 1 if a check failed,
    and with 5 if no check failed but a check of the cluster was inconclusive.
    """
    began = time.monotonic()
    cluster = audit_of_cluster(intent, kube=kube, context=context, gathered=gathered)
    if cluster is not None and root is None and host is None and bmc is None:
        # Who asks a cluster does so from elsewhere: this host is none of its nodes.
        done = cluster
    else:
        of_host = _audit(with_bmc(chosen_host(root, host), bmc, bmc_credentials, ca_file), intent)
        done = of_host if cluster is None else joined(of_host, cluster)
    if json:
        typer.echo(AuditRecord.of(done, time.monotonic() - began).text, nl=False)
    elif fix:
        print_fixes(done)
    else:
        print_audit(done)
    if done.counts["fail"]:
        raise typer.Exit(_FAILED)
    if cluster is not None and cluster.counts["unknown"]:
        raise typer.Exit(TESTER_COULD_NOT_TELL)


def _audit(view: HostView, intent: str | None) -> Audit:
    if intent is not None:
        return run_audit(view, load_intent(intent))
    assumed, source = assume_intent(view)
    return look(view, assumed, f"{source}. {_WITHOUT_INTENT}")


# The part of `plimsoll tune audit` that asks a cluster: its API, or a must-gather.
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
