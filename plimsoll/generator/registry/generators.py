"""The kinds of generator an experiment can name. A new kind is one folder, and one line here."""

from __future__ import annotations

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
