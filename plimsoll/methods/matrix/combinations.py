"""Which iterations a matrix has, and in which order their samples are run."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from plimsoll.methods.matrix.settings import MatrixSettings, Order

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
