"""Where the methods lie: a folder each of `plimsoll/methods`, our packs, other distributions.

A folder of ours registers itself; a pack is a method too large for one folder, in a package of its
own. Another distribution names its package in the entry point group `plimsoll.methods`, under the
method's name. Each has the modules `result`, with its METHOD, `page`, with `run_page`, and
`command`, with `add_to`. Each is imported when it is used: listing runs imports no page.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any, Literal

from plimsoll.errors import MachineError

_PACKAGE = "plimsoll.methods"
_PACKS: Mapping[str, str] = {"churn": "plimsoll.churn"}

MethodPart = Literal["result", "page", "command"]
_SAYS: Mapping[MethodPart, str] = {"result": "METHOD", "page": "run_page", "command": "add_to"}


def folder_methods() -> tuple[str, ...]:
    """Their names, as journals and the command line have them: ours, then the others'."""
    ours = _ours()
    return (*ours, *(name for name in sorted(_foreign()) if name not in ours))


def part_name(method: str, part: MethodPart) -> str:
    """The module that has this part of the method. Raises KeyError where there is no such one."""
    if method in _ours():
        package = _PACKS.get(method, f"{_PACKAGE}.{method.replace('-', '_')}")
        return f"{package}.{part}"
    return f"{_foreign()[method].value}.{part}"


def part_of(method: str, part: MethodPart) -> Any:
    """What that module has of it: its METHOD, `run_page` or `add_to`.

    Raises KeyError where there is no such method, and MachineError where another distribution's
    does not load.
    """
    name = part_name(method, part)
    if method in _ours():
        return getattr(import_module(name), _SAYS[part])
    return _of_foreign(_foreign()[method], name, _SAYS[part])


def _ours() -> tuple[str, ...]:
    return (*_names_in(tuple(import_module(_PACKAGE).__path__)), *_PACKS)


@cache
def _names_in(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Looked for once: lists of runs ask for the method of each."""
    found = pkgutil.iter_modules(paths)
    return tuple(sorted(each.name.replace("_", "-") for each in found if each.ispkg))


@cache
def _foreign() -> Mapping[str, EntryPoint]:
    """By name; they are looked for once, in all that is installed in this environment."""
    return {each.name: each for each in entry_points(group=_PACKAGE)}


def _of_foreign(entry: EntryPoint, name: str, attribute: str) -> Any:
    try:
        module: ModuleType = import_module(name)
        return getattr(module, attribute)
    # Whatever the code of others raises: it is their fault, and is said to be.
    except Exception as error:
        distribution = entry.dist.name if entry.dist else "an unknown distribution"
        raise MachineError(
            f"the method {entry.name} of {distribution} does not load: "
            f"{type(error).__name__}: {error}",
            where=f"{name}.{attribute}",
            remedy=f"install another version of {distribution}, or remove it",
        ) from error
