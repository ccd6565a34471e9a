"""The kinds of generator an experiment can name. A new kind is one folder, and one line here."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, SerializeAsAny, TypeAdapter, ValidationInfo

from plimsoll.generator.engine.settings import EngineSettings
from plimsoll.generator.generator_plan import GeneratorModel
from plimsoll.generator.kernel.settings import TrafgenSettings
from plimsoll.generator.moongen.settings import MoonGenSettings
from plimsoll.generator.pktgen.settings import PktgenSettings
from plimsoll.generator.testpmd.settings import TestpmdGenerator
from plimsoll.generator.trex.settings import TrexSettings

DEFAULT_KIND = "engine"
# By `kind`. A simulation is not among them: a simulated lab brings it, with the DUT in it.
GENERATORS: dict[str, type[GeneratorModel]] = {
    DEFAULT_KIND: EngineSettings,
    "testpmd": TestpmdGenerator,
    "trex": TrexSettings,
    "pktgen": PktgenSettings,
    "moongen": MoonGenSettings,
    "kernel": TrafgenSettings,
}


def generator_programs() -> frozenset[str]:
    """The processes that poll for generators, by their names in what observers read."""
    programs = (model.capabilities.program for model in GENERATORS.values())
    return frozenset(program for program in programs if program is not None)


# The experiment's `generator` section, read as the kind that it names.
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
