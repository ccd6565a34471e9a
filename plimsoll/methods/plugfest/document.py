"""A plugfest as it is written: an experiment with a `plugfest` section."""

from __future__ import annotations

import copy
import itertools
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Self

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

from plimsoll.benchmark.experiment.experiment import complete
from plimsoll.benchmark.experiment.set_field import SetField
from plimsoll.dut.registry.labs import LabSettings
from plimsoll.errors import InputError
from plimsoll.generator.registry.generators import GeneratorField
from plimsoll.methods.matrix.document import (
    Iteration,
    Matrix,
    VariedDocument,
    read_varied,
    with_values,
)
from plimsoll.methods.matrix.settings import MatrixSettings
from plimsoll.methods.plugfest.plan import PlannedCell, PlugfestPlan
from plimsoll.methods.plugfest.result import CellPlace
from plimsoll.neighbours.registry import NeighbourSettings
from plimsoll.text.document import Document
from plimsoll.text.field_path import FieldPath
from plimsoll.text.mistakes import did_you_mean, mistake
from plimsoll.text.units import DurationField, RatioField
from plimsoll.traffic.frames.vary import MAX_FLOWS
from plimsoll.traffic.imix import Imix, describe_mix, sizes_in_order

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
        tuple[Annotated[StrictInt, Field(ge=1, le=MAX_FLOWS)], ...], Field(min_length=1)
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
                    "this mix has no name, and cells are labelled by name",
                    "name one (simple, csit, vsperf), or write it in RFC 6985's letters",
                    place,
                )
        return sizes

    @model_validator(mode="after")
    def _baseline_is_one_of_them(self) -> Self:
        if self.baseline is not None and self.baseline not in self.duts:
            known = ", ".join(self.duts)
            raise mistake(
                f"{self.baseline} is not one of the DUTs",
                did_you_mean(self.baseline, list(self.duts), f"name one of {known}"),
                "baseline",
            )
        return self


SECTION = "plugfest"
# Each has folders of its own, and is a row somewhere.
_MAX_CELLS = 5_000
_QUIET, _NOISY = "quiet", "noisy"


class _Section(BaseModel):
    """The document, looked at for its plugfest alone."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    plugfest: PlugfestSettings


@dataclass(frozen=True, slots=True)
class Plugfest:
    """The matrix of the cells that can be run, and the plan of all of them."""

    matrix: Matrix
    plan: PlugfestPlan


@dataclass(frozen=True, slots=True)
class _Value:
    """A value of an axis: what people call it, and the fields that it sets."""

    label: str
    params: Mapping[str, JsonValue]


def load_plugfest(path: Path, settings: Sequence[SetField] = ()) -> Plugfest:
    """Read a plugfest and every experiment in it; a cell of which none can be made is refused.

    Raises InputError naming file, line and field of a mistake that no cell is without, or that is
    made on an axis.
    """
    document, base = read_varied(path, SECTION, settings, "add `plugfest:` with `duts:`")
    requested = _settings(document)
    seed = secrets.randbelow(2**32) if requested.seed is None else requested.seed
    written = {**document.data, SECTION: {**document.data[SECTION], "seed": seed}}
    cells, iterations = _cells(base, list(_axes(document, requested, _load_streams(base))))
    matrix = Matrix(
        str(written["name"]),
        MatrixSettings(samples=requested.repetitions, order="rounds", seed=seed),
        iterations,
        written,
    )
    return Plugfest(matrix, _plan(requested, cells))


def _settings(document: Document) -> PlugfestSettings:
    requested = document.validate(_Section).plugfest
    cells = (
        len(requested.duts)
        * len(requested.chains)
        * len(requested.flows)
        * len(requested.frame_sizes)
        * len(requested.noise or "1")
        * len(requested.generators or "1")
    )
    if cells > _MAX_CELLS:
        raise InputError(
            f"plugfest: {cells:,} cells",
            where=document.place_of((SECTION,)),
            remedy=f"vary less, for at most {_MAX_CELLS:,}",
        )
    return requested


def _plan(requested: PlugfestSettings, cells: tuple[PlannedCell, ...]) -> PlugfestPlan:
    return PlugfestPlan(
        cells=cells,
        baseline=requested.baseline or next(iter(requested.duts)),
        settled=requested.settled,
        budget_s=requested.budget,
        frames={
            str(size): f"{size} bytes with FCS"
            if isinstance(size, int)
            else describe_mix(sizes_in_order(size))
            for size in requested.frame_sizes
        },
    )


def _axes(
    document: Document, requested: PlugfestSettings, streams: Sequence[str]
) -> Iterator[list[_Value]]:
    """DUT, chain, flows, frame size, noise and generator, with their values as written."""
    written = document.data[SECTION]
    yield [
        _Value(str(name), {"lab": dut["lab"], **(dut.get("settings") or {})})
        for name, dut in written["duts"].items()
    ]
    yield [
        _Value(chain, {} if chain == P2P else {"lab.chain": chain}) for chain in requested.chains
    ]
    yield [_Value(str(flows), _of_streams(streams, "flows", flows)) for flows in requested.flows]
    yield [
        _Value(str(size), _sizes(streams, size))
        for size in requested.frame_sizes
        if isinstance(size, int | str)
    ]
    yield list(_named(document, "noise", _NOISY if document.data.get("noise") else _QUIET))
    yield list(_named(document, "generator", str(_kind(document))))


def _kind(document: Document) -> object:
    generator = document.data.get("generator")
    return generator.get("kind", "engine") if isinstance(generator, dict) else "engine"


def _named(document: Document, field: str, otherwise: str) -> Iterator[_Value]:
    """The values of an axis that may be left out, for the experiment's own."""
    values = document.data[SECTION].get("noise" if field == "noise" else "generators")
    if values is None:
        yield _Value(otherwise, {})
        return
    for name, value in values.items():
        yield _Value(str(name), {field: value})


def _of_streams(streams: Sequence[str], field: str, value: JsonValue) -> dict[str, JsonValue]:
    return {f"profile.streams[{stream}].{field}": value for stream in streams}


def _sizes(streams: Sequence[str], size: int | str) -> dict[str, JsonValue]:
    """A size, or a mix; the one of the two takes the other's place."""
    mix, plain = (None, size) if isinstance(size, int) else (size, None)
    return {
        **_of_streams(streams, "imix", mix),
        **_of_streams(streams, "frame_size", plain),
    }


def _load_streams(base: VariedDocument) -> list[str]:
    """The names of the streams whose flows and sizes are varied. Raises InputError."""
    document = replace(base.document, data=copy.deepcopy(base.document.data))
    complete(document)
    profile: Any = document.data.get("profile")
    streams = profile.get("streams") if isinstance(profile, dict) else None
    names = [
        str(stream["name"])
        for stream in (streams if isinstance(streams, list) else ())
        if isinstance(stream, dict) and stream.get("role") == "load" and "name" in stream
    ]
    if not names:
        raise InputError(
            "profile: has no load stream, whose flows and frame sizes are varied",
            where=base.document.place_of(("profile",)),
            remedy="add a stream with a name and role: load",
        )
    return names


def _cells(
    base: VariedDocument, axes: Sequence[Sequence[_Value]]
) -> tuple[tuple[PlannedCell, ...], tuple[Iteration, ...]]:
    cells: list[PlannedCell] = []
    iterations: list[Iteration] = []
    first: InputError | None = None
    for number, values in enumerate(itertools.product(*axes), start=1):
        place = _place(number, values)
        params = {path: value for each in values for path, value in each.params.items()}
        try:
            experiment = with_values(base, params)
        except InputError as error:
            first = first or error
            cells.append(_cell(place, None, error.message))
            continue
        iterations.append(Iteration(len(iterations) + 1, params, experiment, place.label))
        cells.append(_cell(place, len(iterations), None))
    if not iterations and first is not None:
        raise first
    return tuple(cells), tuple(iterations)


def _place(number: int, values: Sequence[_Value]) -> CellPlace:
    dut, chain, flows, frame_size, noise, generator = (value.label for value in values)
    return CellPlace(
        number=number,
        dut=dut,
        chain=chain,
        flows=int(flows),
        frame_size=frame_size,
        noise=noise,
        generator=generator,
    )


def _cell(place: CellPlace, iteration: int | None, refused: str | None) -> PlannedCell:
    return PlannedCell(**place.model_dump(), iteration=iteration, refused=refused)
