"""The experiment's `generator` section, read as the kind that it names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator, SerializeAsAny, ValidationInfo

from plimsoll.generator.generator_plan import GeneratorModel
from plimsoll.generator.registry.generators import DEFAULT_KIND, GENERATORS
from plimsoll.text.mistakes import brief, did_you_mean, mistake


def _of_its_kind(given: object, info: ValidationInfo) -> GeneratorModel:
    if isinstance(given, GeneratorModel):
        return given
    kind = given.get("kind", DEFAULT_KIND) if isinstance(given, Mapping) else DEFAULT_KIND
    if kind not in GENERATORS:
        raise mistake(f"unknown kind {brief(kind)}", did_you_mean(str(kind), GENERATORS), "kind")
    return GENERATORS[kind].model_validate(given, context=info.context)


# Without `kind` it is Plimsoll's own engine.
GeneratorField = Annotated[SerializeAsAny[GeneratorModel], BeforeValidator(_of_its_kind)]
