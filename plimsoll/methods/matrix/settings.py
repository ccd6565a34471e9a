"""What an experiment's `matrix` section says."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, PositiveInt, field_validator

from plimsoll.errors import InputError
from plimsoll.text.field_path import FieldPath
from plimsoll.text.mistakes import mistake

# By the path of a field of the experiment, the values that it is to have.
MatrixParameters = Mapping[str, Annotated[tuple[JsonValue, ...], Field(min_length=1)]]

Order = Literal["sample", "iteration", "random", "rounds", "abba"]


class MatrixSettings(BaseModel):
    """Sets of parameters; each stands for all combinations of its values.

    The combinations of all sets are the iterations, each run `samples` times. Of two
    parameters with the same path the one of the set counts, not the one in `common`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    # Parameters that every set has.
    common: MatrixParameters = {}
    # Without any, `common` is the one set.
    sets: tuple[MatrixParameters, ...] = ()
    samples: Annotated[PositiveInt, Field(le=1000)] = 1
    # sample: one of each iteration, then the second of each, so that drift spreads over all
    # of them; iteration: all of the first iteration, then those of the next; abba: as sample,
    # and every second time from the last iteration to the first, so that a steady drift is the
    # same for all of them; random: mixed all through; rounds: one of each iteration, in an order
    # drawn anew for every round.
    order: Order = "sample"
    # Of the orders that are drawn.
    seed: int = 0

    @field_validator("common")
    @classmethod
    def _common_are_paths(cls, common: MatrixParameters) -> MatrixParameters:
        _check_paths(common)
        return common

    @field_validator("sets")
    @classmethod
    def _sets_are_paths(cls, sets: tuple[MatrixParameters, ...]) -> tuple[MatrixParameters, ...]:
        for index, each in enumerate(sets):
            _check_paths(each, index)
        return sets


def _check_paths(parameters: MatrixParameters, *place: int) -> None:
    for path in parameters:
        try:
            FieldPath.parse(path)
        except InputError as error:
            raise mistake(error.message, error.remedy, *place, path) from None


# By the path of a field, its one value.
Combination = Mapping[str, JsonValue]


@dataclass(frozen=True, order=True, slots=True)
class Sample:
    """One run of one iteration, both counted from 1."""

    iteration: int
    number: int


def combinations(settings: MatrixSettings) -> tuple[Combination, ...]:
    """Every combination once, in the order of the sets; the last parameter varies fastest."""
    found: dict[str, Combination] = {}
    for each in settings.sets or ({},):
        parameters = {**settings.common, **each}
        for values in itertools.product(*parameters.values()):
            combination = dict(zip(parameters, values, strict=True))
            found.setdefault(json.dumps(combination, sort_keys=True), combination)
    return tuple(found.values())


def count(settings: MatrixSettings) -> int:
    """How many combinations there are at most, without making them."""
    total = 0
    for each in settings.sets or ({},):
        size = 1
        for values in {**settings.common, **each}.values():
            size *= len(values)
        total += size
    return total


def in_order(iterations: int, samples: int, order: Order, seed: int) -> Iterator[Sample]:
    """Every sample of every iteration once."""
    numbers = range(1, samples + 1)
    each = range(1, iterations + 1)
    if order == "iteration":
        yield from itertools.starmap(Sample, itertools.product(each, numbers))
        return
    if order == "abba":
        for number in numbers:
            for iteration in each if number % 2 else reversed(each):
                yield Sample(iteration, number)
        return
    # Not cryptography: the same seed gives the same order.
    drawn = random.Random(seed)  # noqa: S311
    if order == "rounds":
        for number in numbers:
            of_round = [Sample(iteration, number) for iteration in each]
            drawn.shuffle(of_round)
            yield from of_round
        return
    by_sample = [Sample(iteration, number) for number in numbers for iteration in each]
    if order == "random":
        drawn.shuffle(by_sample)
    yield from by_sample


def described(combination: Combination) -> str:
    """For people: `frame_size = 64, flows = 1000`, by the last part of each path."""
    return ", ".join(f"{short(path)} = {_value(value)}" for path, value in combination.items())


def short(path: str) -> str:
    """The last field's name."""
    return path.rsplit(".", 1)[-1]


def _value(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
