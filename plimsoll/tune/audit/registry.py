"""All checks: each module of plimsoll.tune.audit.checks has one, as CHECK."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from plimsoll.tune.audit import checks
from plimsoll.tune.audit.check import Check


@cache
def all_checks() -> tuple[Check, ...]:
    """Every check, by number."""
    names = (module.name for module in iter_modules(checks.__path__))
    found: list[Check] = [import_module(f"{checks.__name__}.{name}").CHECK for name in names]
    return tuple(sorted(found, key=lambda check: check.number))
