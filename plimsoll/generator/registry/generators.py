"""The kinds of generator: the folders of plimsoll.generator that have settings, and others'."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, SerializeAsAny, ValidationInfo

from plimsoll.generator.generator_plan import GeneratorModel
from plimsoll.plug_ins import PlugIns
from plimsoll.text.kinds import of_its_kind

DEFAULT_KIND = "engine"
# By `kind`. A simulation is not among them: a simulated lab brings it, with the DUT in it.
GENERATORS = PlugIns(
    GeneratorModel,  # type: ignore[type-abstract]
    package="plimsoll.generator",
    part="settings",
    attribute="GENERATOR",
    group="plimsoll.generators",
)


def generator_programs() -> frozenset[str]:
    """The processes that poll for generators, by their names in what observers read."""
    programs = (model.capabilities.program for model in GENERATORS.values())
    return frozenset(program for program in programs if program is not None)


# The experiment's `generator` section, read as the kind that it names, which alone is imported.
def _of_its_kind(given: object, info: ValidationInfo) -> object:
    return of_its_kind(GENERATORS, given, info, DEFAULT_KIND)


# Without `kind` it is Plimsoll's own engine.
GeneratorField = Annotated[SerializeAsAny[GeneratorModel], BeforeValidator(_of_its_kind)]
