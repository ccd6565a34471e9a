"""What an experiment's `matrix` section says."""

from __future__ import annotations

from collections.abc import Mapping
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
