"""The parameters of a request, read one by one."""

from __future__ import annotations

import math
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from plimsoll.remote.trex.messages.json_rpc import BadParameters, Params

_MISSING = object()
_MAX_TEXT = 256
_MAX_LISTED = 4096
ModelT = TypeVar("ModelT", bound=BaseModel)


class RequestParameters:
    """Of one request. Each raises BadParameters with the field's name."""

    def __init__(self, given: Params) -> None:
        self._given = given

    def integer(self, name: str, default: Any = _MISSING) -> int:
        """A whole number of at most 64 bits."""
        value = self._value(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not -1 <= value < 2**64:
            raise BadParameters(f"field '{name}' is no whole number")
        return value

    def number(self, name: str, default: Any = _MISSING) -> float:
        """A finite number."""
        value = self._value(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise BadParameters(f"field '{name}' is no number")
        if not math.isfinite(value) or abs(value) > 1e15:
            raise BadParameters(f"field '{name}' is out of range")
        return float(value)

    def text(self, name: str, default: Any = _MISSING) -> str:
        """Some characters, not too many."""
        value = self._value(name, default)
        if not isinstance(value, str) or len(value) > _MAX_TEXT:
            raise BadParameters(f"field '{name}' is no text of up to {_MAX_TEXT} characters")
        return value

    def flag(self, name: str, default: Any = _MISSING) -> bool:
        """True or false."""
        value = self._value(name, default)
        if not isinstance(value, bool):
            raise BadParameters(f"field '{name}' is neither true nor false")
        return value

    def mapping(self, name: str, default: Any = _MISSING) -> dict[str, Any]:
        """An object."""
        value = self._value(name, default)
        if not isinstance(value, dict):
            raise BadParameters(f"field '{name}' is no object")
        return value

    def integers(self, name: str) -> list[int]:
        """A list of whole numbers."""
        value = self._value(name, [])
        if not isinstance(value, list) or len(value) > _MAX_LISTED:
            raise BadParameters(f"field '{name}' is no list of up to {_MAX_LISTED}")
        if not all(isinstance(each, int) and 0 <= each < 2**32 for each in value):
            raise BadParameters(f"field '{name}' has something that is no number")
        return value

    def model(self, name: str, kind: type[ModelT]) -> ModelT:
        """An object of a known form; the first mistake in it is named with its place."""
        try:
            return kind.model_validate(self.mapping(name))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            context = first.get("ctx", {})
            inside = context.get("field", ())
            place = ".".join(str(part) for part in (name, *first["loc"], *inside))
            remedy = f" ({context['remedy']})" if context.get("remedy") else ""
            raise BadParameters(f"{place}: {first['msg']}{remedy}") from None

    def _value(self, name: str, default: Any) -> Any:
        value = self._given.get(name)
        if value is None:
            if default is _MISSING:
                raise BadParameters(f"field '{name}' is missing")
            return default
        return value
