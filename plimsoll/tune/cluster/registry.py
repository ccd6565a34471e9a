"""All checks of a cluster: each module of plimsoll.tune.cluster.checks has one, as CHECK."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from plimsoll.tune.cluster import checks
from plimsoll.tune.cluster.cluster_check import ClusterCheck


@cache
def all_cluster_checks() -> tuple[ClusterCheck, ...]:
    """Every check, by number."""
    names = (module.name for module in iter_modules(checks.__path__))
    found: list[ClusterCheck] = [import_module(f"{checks.__name__}.{name}").CHECK for name in names]
    return tuple(sorted(found, key=lambda check: check.number))
