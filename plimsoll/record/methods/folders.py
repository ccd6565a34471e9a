"""Methods that are a folder of `plimsoll/methods`: the folder registers them.

Each has the modules `result`, with its METHOD, `page`, with `run_page`, and
`command`, with `add_to`. Each is imported when it is used: listing runs imports no page.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from types import ModuleType
from typing import Literal

_PACKAGE = "plimsoll.methods"

MethodPart = Literal["result", "page", "command"]


def folder_methods() -> tuple[str, ...]:
    """Their names, as journals and the command line have them."""
    found = pkgutil.iter_modules(import_module(_PACKAGE).__path__)
    return tuple(sorted(each.name.replace("_", "-") for each in found if each.ispkg))


def part_name(method: str, part: MethodPart) -> str:
    """The module that has this part of the method."""
    return f"{_PACKAGE}.{method.replace('-', '_')}.{part}"


def part_of(method: str, part: MethodPart) -> ModuleType:
    """That module. Raises ImportError where there is none."""
    return import_module(part_name(method, part))
