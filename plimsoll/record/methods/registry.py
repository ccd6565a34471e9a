"""All methods, by name; where each lies, folders.py knows."""

from __future__ import annotations

import math
import pkgutil
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, Literal

from plimsoll.errors import MachineError
from plimsoll.plug_ins import foreign, loaded
from plimsoll.record.methods.method import Method, RunOutcome

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


class _Methods(Mapping[str, Method[Any]]):
    """By the name that a run's journal gives its method; each is imported when it is used."""

    def __getitem__(self, name: str) -> Method[Any]:
        method: Method[Any] = part_of(name, "result")
        return method

    def __iter__(self) -> Iterator[str]:
        return iter(folder_methods())

    def __len__(self) -> int:
        return sum(1 for _ in self)


METHODS = _Methods()


def method_with_result(name: str) -> Method[Any] | None:
    """The method whose runs have a result.json; None where this version knows none.

    Nor one of another distribution that does not load: runs are listed all the same.
    """
    try:
        method = METHODS.get(name)
    except MachineError:
        return None
    return None if method is None or method.one_trial else method


def outcome_of(name: str, result: bytes) -> RunOutcome | None:
    """What the result.json of a run of the method says; None of one that is not known.

    Raises pydantic's ValidationError for one that this version cannot read, and ValueError or
    OverflowError for figures that are none.
    """
    method = method_with_result(name)
    if method is None:
        return None
    outcome = method.outcome(method.result.model_validate_json(result))
    value = outcome.answer.value if outcome.answer else None
    if value is not None and not math.isfinite(value):
        raise ValueError("its figure is not a number")
    return outcome
