"""The kinds of neighbour: the files here that have one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated

from pydantic import SerializeAsAny

from plimsoll.neighbours.neighbour import NeighbourModel
from plimsoll.plug_ins import registered
from plimsoll.text.kinds import OfKind


@cache
def neighbours() -> Mapping[str, type[NeighbourModel]]:
    """By `kind`."""
    found = registered(("plimsoll.neighbours",), "NEIGHBOUR")
    return {model.model_fields["kind"].default: model for model in found}


# One entry of an experiment's `noise`.
NeighbourSettings = Annotated[SerializeAsAny[NeighbourModel], OfKind(neighbours)]
