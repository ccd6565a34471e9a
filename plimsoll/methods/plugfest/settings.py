"""What an experiment's `plugfest` section says: its axes, and how long it may take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    PositiveInt,
    StrictInt,
    field_validator,
    model_validator,
)

from plimsoll.dut.registry.labs import LabSettings
from plimsoll.errors import InputError
from plimsoll.generator.registry.generators import GeneratorField
from plimsoll.neighbours.registry import NeighbourSettings
from plimsoll.text.field_path import FieldPath
from plimsoll.text.mistakes import did_you_mean, mistake
from plimsoll.text.units import DurationField, RatioField
from plimsoll.traffic.frames.vary import MOST_FLOWS
from plimsoll.traffic.imix import Imix

# What people call a value of an axis.
Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,31}$")]
CellNoise = Annotated[tuple[NeighbourSettings, ...], Field(max_length=16)]
P2P = "p2p"


class PlugfestDut(BaseModel):
    """A DUT: its lab, and further fields of the experiment that go with it, by their paths."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    lab: LabSettings
    settings: Mapping[str, JsonValue] = {}

    @field_validator("settings")
    @classmethod
    def _are_paths(cls, settings: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
        for path in settings:
            try:
                FieldPath.parse(path)
            except InputError as error:
                raise mistake(error.message, error.remedy, path) from None
        return settings


class PlugfestSettings(BaseModel):
    """The axes, of whose values every combination is a cell, run `repetitions` times.

    `chains` are how a DUT's lab joins its ports: port to port, or by way of guests. `flows` and
    `frame_sizes`, in bytes with FCS or a mix by its name, are those of every load stream.
    `noise` and `generators` are the experiment's own where they are left out.

    `seed` draws the order; without one it is drawn itself, and recorded. The run ends within
    `budget`, by default what it was estimated to take, for which repetitions are left out, and
    never a whole cell. No cell is repeated further whose median load line is known to
    `settled`: the 95 % interval as a share of it. DUTs are held against the `baseline`, by
    default the first.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    duts: Annotated[Mapping[Label, PlugfestDut], Field(min_length=1, max_length=64)]
    chains: Annotated[tuple[Label, ...], Field(min_length=1)] = (P2P,)
    flows: Annotated[
        tuple[Annotated[StrictInt, Field(ge=1, le=MOST_FLOWS)], ...], Field(min_length=1)
    ] = (1,)
    frame_sizes: Annotated[tuple[StrictInt | Imix, ...], Field(min_length=1)] = (64,)
    noise: Annotated[Mapping[Label, CellNoise], Field(min_length=1)] | None = None
    generators: Annotated[Mapping[Label, GeneratorField], Field(min_length=1)] | None = None
    repetitions: Annotated[PositiveInt, Field(le=1000)] = 4
    seed: Annotated[StrictInt, Field(ge=0, lt=2**63)] | None = None
    budget: Annotated[DurationField, Field(gt=0)] | None = None
    settled: Annotated[RatioField, Field(gt=0, lt=1)] = 0.02
    baseline: str | None = None

    @field_validator("chains", "flows", "frame_sizes")
    @classmethod
    def _each_once(cls, values: tuple[object, ...]) -> tuple[object, ...]:
        for place, value in enumerate(values):
            if value in values[:place]:
                raise mistake(f"{value} is named twice", "name each value once", place)
        return values

    @field_validator("frame_sizes")
    @classmethod
    def _mixes_have_names(cls, sizes: tuple[int | Imix, ...]) -> tuple[int | Imix, ...]:
        for place, size in enumerate(sizes):
            if not isinstance(size, int | str):
                raise mistake(
                    "a mix without a name has none on the axis",
                    "name one (simple, csit, vsperf), or write it in RFC 6985's letters",
                    place,
                )
        return sizes

    @model_validator(mode="after")
    def _baseline_is_one_of_them(self) -> Self:
        if self.baseline is not None and self.baseline not in self.duts:
            known = ", ".join(self.duts)
            raise mistake(
                f"{self.baseline} is none of the DUTs",
                did_you_mean(self.baseline, list(self.duts), f"name one of {known}"),
                "baseline",
            )
        return self
