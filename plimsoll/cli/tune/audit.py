"""`plimsoll tune audit`: whether a host is what the intent says."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from plimsoll.cli.tune.cluster import ContextOption, FromOption, KubeOption, audit_of_cluster
from plimsoll.errors import TESTER_COULD_NOT_TELL
from plimsoll.record.run.audit_record import AuditRecord
from plimsoll.terminal.options.bmc_options import (
    BmcCredentialsOption,
    BmcOption,
    CaFileOption,
    with_bmc,
)
from plimsoll.terminal.options.host_choice import HostOption, RootOption, chosen_host
from plimsoll.terminal.options.options import JsonOption
from plimsoll.terminal.tables.audit_table import print_audit, print_fixes
from plimsoll.tune.audit.assumed_intent import assume_intent
from plimsoll.tune.audit.audit import Audit, look
from plimsoll.tune.audit.audit import audit as run_audit
from plimsoll.tune.cluster.cluster_audit import joined
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.load import load_intent, preset_names

_FAILED = 1
_WITHOUT_INTENT = (
    "Beyond that it warns of what no dataplane wants and shows what it read of the rest; plimsoll "
    "tune init proposes an intent to judge it by"
)


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
    root: RootOption = None,
    host: HostOption = None,
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

    Without an intent it shows what it read, and warns of what no packet dataplane wants.
    **plimsoll tune init** proposes an intent for a host.

    Needs no root, changes nothing, and says what it could not read. Ends with 1 where a
    check failed, and with 5 where none did but a check of the cluster could not tell.
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
