"""Mistakes in what people write, with what to do about them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from pydantic_core import PydanticCustomError


def mistake(problem: str, remedy: str, *field: str | int) -> PydanticCustomError:
    """What a model's own check raises: of the value checked, or of a `field` below it."""
    context = {"problem": problem, "remedy": remedy, "field": field}
    return PydanticCustomError("mistake", "{problem}", context)


def did_you_mean(found: str, known: Iterable[str], general: str = "") -> str:
    """A remedy for a misspelt name: the likeliest meant, or `general`, or all there are."""
    names = sorted(known)
    likely = [name for name in names if name.casefold() == found.casefold()]
    likely += difflib.get_close_matches(found, names, n=1)
    return f"did you mean {likely[0]}?" if likely else general or f"use one of {', '.join(names)}"
