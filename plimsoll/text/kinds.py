"""Settings that are of one of several kinds, of which each is imported only when it is named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    TypeAdapter,
    ValidationInfo,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from plimsoll.plug_ins import PlugIns
from plimsoll.text.mistakes import brief, did_you_mean, mistake

_KIND = "kind"


@dataclass(frozen=True)
class OfKind:
    """Marks a field of a model's base class: it is read as the model that its `kind` names.

    `kinds` has the models by kind. Without a kind it is of the `default` one. What is no mapping
    is left to pydantic. Mistakes have the kind in their locations, as those of a union do. The
    JSON Schema of the field has all kinds.
    """

    kinds: Callable[[], Mapping[str, type[BaseModel]]]
    default: str | None = None

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """The base's own, behind the choice of a kind."""
        return core_schema.with_info_before_validator_function(self._read, handler(source))

    def __get_pydantic_json_schema__(
        self, _schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Of a union of all that load."""
        kinds = self.kinds()
        found = kinds.loadable() if isinstance(kinds, PlugIns) else kinds
        models: Any = reduce(or_, dict.fromkeys(found.values()))
        union: Any = Annotated[models, Field(discriminator=_KIND)]
        return handler(TypeAdapter(union).core_schema)

    def _read(self, given: object, info: ValidationInfo) -> object:
        if not isinstance(given, Mapping):
            return given
        kinds = self.kinds()
        named = given if self.default is None else {_KIND: self.default, **given}
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
def _reader(model: type[BaseModel]) -> TypeAdapter[BaseModel]:
    form: Any = Annotated[model | _NoKind, Field(discriminator=_KIND)]
    return TypeAdapter(form)
