"""Values of a name of series, as people write them in a criterion."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field


def _as_texts(given: object) -> object:
    """A single value needs no list, and what YAML takes for a number is a name as well."""
    values = given if isinstance(given, list | tuple) else [given]
    return [str(each) if isinstance(each, int) else each for each in values]


NameValues = Annotated[
    tuple[Annotated[str, Field(max_length=256)], ...],
    BeforeValidator(_as_texts),
    Field(max_length=64),
]
