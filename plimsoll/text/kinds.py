"""Settings that are of one of several kinds, of which each is imported only when it is named."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, Field, TypeAdapter, ValidationInfo

from plimsoll.text.mistakes import brief, did_you_mean, mistake

M = TypeVar("M", bound=BaseModel)
_KIND = "kind"


def of_its_kind(
    kinds: Mapping[str, type[M]], given: object, info: ValidationInfo, default: str | None = None
) -> object:
    """`given` as the model that its field `kind` names, for a validator of such fields.

    Without the field it is of the `default` kind. What is no mapping is left to pydantic. Raises
    ValidationError, whose locations have the kind in them as those of a union do.
    """
    if not isinstance(given, Mapping):
        return given
    named = given if default is None else {_KIND: default, **given}
    if _KIND not in named:
        raise mistake(f"has no {_KIND}", f"add `{_KIND}:`")
    kind = named[_KIND]
    if not isinstance(kind, str) or kind not in kinds:
        raise mistake(f"unknown {_KIND} {brief(kind)}", did_you_mean(str(kind), tuple(kinds)))
    return _reader(kinds[kind]).validate_python(named, context=info.context)


class _NoKind(BaseModel):
    """There is no union of one; in a union of two, locations have the chosen one's kind."""

    kind: Literal[""]


@cache
def _reader(model: type[M]) -> TypeAdapter[M]:
    form: Any = Annotated[model | _NoKind, Field(discriminator=_KIND)]
    return TypeAdapter(form)
