"""All methods, by name; where each lies, folders.py knows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.errors import MachineError
from plimsoll.record.methods.folders import folder_methods, part_of
from plimsoll.record.methods.method import Method, RunOutcome


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
