"""The experiment's `generator` section, read as the kind that it names."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, SerializeAsAny, TypeAdapter, ValidationInfo

from plimsoll.generator.generator_plan import GeneratorModel
from plimsoll.generator.registry.generators import DEFAULT_KIND, GENERATORS


def _of_its_kind(given: object, info: ValidationInfo) -> GeneratorModel:
    named = {"kind": DEFAULT_KIND, **given} if isinstance(given, Mapping) else given
    return _reader(tuple(GENERATORS.values())).validate_python(named, context=info.context)


@cache
def _reader(models: tuple[type[GeneratorModel], ...]) -> TypeAdapter[GeneratorModel]:
    kinds: Any = reduce(or_, models)
    # Of a single one there is nothing to discriminate.
    form: Any = kinds if len(models) == 1 else Annotated[kinds, Field(discriminator="kind")]
    return TypeAdapter(form)


# Without `kind` it is Plimsoll's own engine.
GeneratorField = Annotated[SerializeAsAny[GeneratorModel], BeforeValidator(_of_its_kind)]
