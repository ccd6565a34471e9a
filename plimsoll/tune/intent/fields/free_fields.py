"""Fields of Kubernetes' objects as people write them into an intent: free, and bounded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BeforeValidator, JsonValue

from plimsoll.text.mistakes import brief, mistake

_DEEPEST = 16
_MOST_VALUES = 2000
_LONGEST_TEXT = 1 << 16


def _check_given(given: object) -> object:
    """As JSON has it, before it is parsed: YAML also has dates and keys that are not text."""
    if not isinstance(given, Mapping) or not given:
        raise mistake(f"found {brief(given)}", "write fields and their values")
    _count(given, 0, 0)
    return dict(given)


def _count(given: object, depth: int, counted: int) -> int:
    if depth > _DEEPEST:
        raise mistake(f"goes deeper than {_DEEPEST} fields", "write the fields that differ alone")
    counted += 1
    if counted > _MOST_VALUES:
        raise mistake(f"has more than {_MOST_VALUES} values", "write the fields that differ alone")
    if isinstance(given, Mapping):
        for name, value in given.items():
            if not isinstance(name, str) or not name or not name.isprintable():
                raise mistake(f"{brief(name)} names no field", "put it in quotes, as text")
            counted = _count(value, depth + 1, counted)
    elif isinstance(given, list):
        for value in given:
            counted = _count(value, depth + 1, counted)
    elif isinstance(given, str):
        _check_text(given)
    elif given is not None and not isinstance(given, bool | int | float):
        raise mistake(f"found {brief(given)}", "write text, a number, true or false")
    return counted


def _check_text(text: str) -> None:
    """Several lines are well: a TuneD profile is one text."""
    if len(text) > _LONGEST_TEXT:
        raise mistake(f"has {len(text)} characters", f"use at most {_LONGEST_TEXT}")
    if not all(each.isprintable() or each in "\n\t" for each in text):
        raise mistake(f"found {brief(text)}", "leave out control characters")


def _keep(given: Mapping[str, Any]) -> Mapping[str, Any]:
    return dict(given)


# At least one field. JSON's values alone: text, numbers, truths, null, lists and fields again.
FreeFields: TypeAlias = Annotated[
    Mapping[str, JsonValue], BeforeValidator(_check_given), AfterValidator(_keep)
]
