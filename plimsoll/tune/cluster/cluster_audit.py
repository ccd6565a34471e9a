"""An audit of a cluster: every check of its objects against one intent."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from plimsoll.tune.audit.audit import Audit
from plimsoll.tune.cluster import checks
from plimsoll.tune.cluster.dataplane_pods import kernel_of, pool_nodes
from plimsoll.tune.cluster.object_judgement import ClusterCheck, ClusterView
from plimsoll.tune.host.view.unread import CannotRead
from plimsoll.tune.intent.intent import Intent


@cache
def all_cluster_checks() -> tuple[ClusterCheck, ...]:
    """Every check, by number."""
    names = (module.name for module in iter_modules(checks.__path__))
    found: list[ClusterCheck] = [import_module(f"{checks.__name__}.{name}").CHECK for name in names]
    return tuple(sorted(found, key=lambda check: check.number))


def audit_cluster(
    view: ClusterView, intent: Intent, checks: Sequence[ClusterCheck] | None = None
) -> Audit:
    """Ask `checks`, by default all there are. Raises nothing for what cannot be read.

    The audit's host is the pool of nodes, its kernel the one that all of them run.
    """
    requested = all_cluster_checks() if checks is None else checks
    return Audit(
        source=view.where,
        host=f"pool {intent.pool.role}" if intent.pool else "a cluster",
        kernel=_kernel(view, intent),
        intent=intent.name,
        assumed="",
        findings=tuple(check.judge(view, intent) for check in requested),
    )


def joined(one: Audit, other: Audit) -> Audit:
    """The findings of a host and of a cluster as one audit, which keeps the names of `one`."""
    findings = sorted((*one.findings, *other.findings), key=lambda finding: finding.number)
    return Audit(
        source=f"{one.source}, {other.source}",
        host=one.host,
        kernel=one.kernel,
        intent=one.intent,
        assumed=one.assumed,
        findings=tuple(findings),
    )


def _kernel(view: ClusterView, intent: Intent) -> str | None:
    try:
        nodes = pool_nodes(view, intent.pool) if intent.pool else ()
    except CannotRead:
        return None
    found = {kernel_of(each) for each in nodes}
    return (found.pop() or None) if len(found) == 1 else None
