"""The kinds of generator: the folders of plimsoll.generator that have settings, and others'."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny

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


class GeneratorListing(BaseModel):
    """One kind of generator, as `plimsoll generators --json` has it."""

    model_config = ConfigDict(frozen=True)

    kind: str
    summary: str
    lacking: tuple[str, ...] = Field(description="What this machine lacks, with the remedy.")
    pacings: tuple[str, ...] = Field(description="How it can send a stream.")
    most_streams: int = Field(description="In one trial, each direction counted.")
    least_pps: float = Field(description="Of a stream.")
    most_pps: float
    latency: bool = Field(description="Whether it times the frames of latency streams.")
    load_latency: bool = Field(description="Whether it times those of load streams as well.")
    faults: tuple[str, ...] = Field(description="Those of frames that it tells from losses.")
    churn: bool = Field(description="Whether flows can make room for new ones.")
    per_flow: bool = Field(description="Whether it counts loss and latency by flow.")
    live: bool = Field(description="Whether rates may change while it sends.")


def generator_listings() -> tuple[GeneratorListing, ...]:
    """All kinds that load, the default one first."""
    return tuple(_listing(kind, model) for kind, model in GENERATORS.loadable().items())


def _listing(kind: str, model: type[GeneratorModel]) -> GeneratorListing:
    able = model.capabilities
    return GeneratorListing(
        kind=kind,
        summary=able.summary,
        lacking=model.lacking(),
        pacings=tuple(sorted(able.pacings)),
        most_streams=able.most_streams,
        least_pps=able.least_pps,
        most_pps=able.most_pps,
        latency=able.latency,
        load_latency=able.load_latency,
        faults=tuple(sorted(able.faults)),
        churn=able.churn,
        per_flow=able.per_flow,
        live=able.live,
    )
