"""Where the methods lie: a folder each of `plimsoll/methods`, our packs, other distributions.

A folder of ours registers itself; a pack is a method too large for one folder, in a package of its
own. Another distribution names its package in the entry point group `plimsoll.methods`, under the
method's name. Each has the modules `result`, with its METHOD, `page`, with `run_page`, and
`command`, with `add_to`. Each is imported when it is used: listing runs imports no page.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any, Literal

from plimsoll.plug_ins import foreign, loaded

_PACKAGE = "plimsoll.methods"


_OF_AN_RFC = re.compile(r"rfc[0-9]+")


_PACKS: Mapping[str, str] = {"churn": "plimsoll.churn"}


MethodPart = Literal["result", "page", "command"]


_SAYS: Mapping[MethodPart, str] = {"result": "METHOD", "page": "run_page", "command": "add_to"}


def folder_methods() -> tuple[str, ...]:
    """Their names, as journals and the command line have them: ours, then the others'."""
    ours = _ours()
    return (*ours, *(name for name in sorted(foreign(_PACKAGE)) if name not in ours))


def is_standard_test(method: str) -> bool:
    """Whether it has the name of the RFC that defines it.

    These are commands of `plimsoll test`, whatever distribution they are of.
    """
    return _OF_AN_RFC.fullmatch(method) is not None


def part_name(method: str, part: MethodPart) -> str:
    """The module that has this part of the method. Raises KeyError where there is no such one."""
    if method in _ours():
        package = _PACKS.get(method, f"{_PACKAGE}.{method.replace('-', '_')}")
        return f"{package}.{part}"
    return f"{foreign(_PACKAGE)[method].value}.{part}"


def part_of(method: str, part: MethodPart) -> Any:
    """What that module has of it: its METHOD, `run_page` or `add_to`.

    Raises KeyError where there is no such method, and MachineError where another distribution's
    does not load.
    """
    name = part_name(method, part)
    if method in _ours():
        return getattr(import_module(name), _SAYS[part])
    return loaded(
        foreign(_PACKAGE)[method],
        f"{name}.{_SAYS[part]}",
        lambda: getattr(import_module(name), _SAYS[part]),
    )


def _ours() -> tuple[str, ...]:
    return (*_names_in(tuple(import_module(_PACKAGE).__path__)), *_PACKS)


@cache
def _names_in(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Looked for once: lists of runs ask for the method of each."""
    found = pkgutil.iter_modules(paths)
    return tuple(sorted(each.name.replace("_", "-") for each in found if each.ispkg))
