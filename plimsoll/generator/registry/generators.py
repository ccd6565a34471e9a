"""The kinds of generator: the folders of plimsoll.generator that have settings, and others'."""

from __future__ import annotations

from typing import Annotated

from pydantic import SerializeAsAny

from plimsoll.generator.generator_plan import GeneratorModel
from plimsoll.plug_ins import ByModule, PlugIns
from plimsoll.text.kinds import OfKind

DEFAULT_KIND = "engine"
# By `kind`. A simulation is not among them: a simulated lab brings it, with the DUT in it.
_OURS: ByModule[GeneratorModel] = ByModule("plimsoll.generator", "GENERATOR", part="settings")
GENERATORS = PlugIns(GeneratorModel, "plimsoll.generators", lambda: _OURS)  # type: ignore[type-abstract]


def generator_programs() -> frozenset[str]:
    """The processes that poll for generators, by their names in what observers read."""
    programs = (model.capabilities.program for model in GENERATORS.loadable().values())
    return frozenset(program for program in programs if program is not None)


# An experiment's `generator`, read as the kind that it names, which alone is imported; without
# one it is Plimsoll's own engine.
GeneratorField = Annotated[SerializeAsAny[GeneratorModel], OfKind(lambda: GENERATORS, DEFAULT_KIND)]
