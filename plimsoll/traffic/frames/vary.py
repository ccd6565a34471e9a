"""What changes from frame to frame: short names for the usual fields, or any at length."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StrictInt,
    Tag,
    field_validator,
    model_validator,
)

from plimsoll.errors import InputError
from plimsoll.text.mistakes import brief, did_you_mean, mistake

ShortName = Literal[
    "src_mac", "dst_mac", "src_ip", "dst_ip", "src_port", "dst_port", "vlan", "mpls", "vni", "teid"
]
SHORT_NAMES: tuple[str, ...] = get_args(ShortName)

MAX_FLOWS = 2**24
MAX_VALUES = 4096

PATH = re.compile(r"(?P<layer>\w+)(\[(?P<number>[1-9]\d?)\])?\.(?P<field>\w+)")


def _values(given: object) -> object:
    """One mistake, where pydantic would have one for each form that values may have."""
    if isinstance(given, list | tuple):
        if 1 <= len(given) <= MAX_VALUES and all(map(_is_value, given)):
            return given
    elif given in ("increment", "random"):
        return given
    raise mistake(
        f"found {brief(given)}",
        f"write increment, random, or a list of 1 to {MAX_VALUES} whole numbers or addresses",
    )


def _is_value(each: object) -> bool:
    return isinstance(each, int | str) and not isinstance(each, bool)


class Variation(BaseModel):
    """One field, named as Scapy does: "IP.dst", or "IP[2].dst" for the second IP layer.

    Frame n takes the number i = (first + n) mod count, or a random one below count that
    `seed` and n decide, and adds i * step to what the packet has there; a list's i-th
    value replaces it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    field: str
    values: Annotated[
        Literal["increment", "random"]
        | Annotated[tuple[int | str, ...], Field(min_length=1, max_length=MAX_VALUES)],
        BeforeValidator(_values),
    ] = "increment"
    count: Annotated[StrictInt, Field(ge=1, le=MAX_FLOWS)] | None = None
    step: Annotated[StrictInt, Field(ge=1, le=2**32 - 1)] = 1
    seed: Annotated[StrictInt, Field(ge=0, le=2**63 - 1)] = 0
    first: Annotated[StrictInt, Field(ge=0, le=MAX_FLOWS - 1)] = 0

    @field_validator("field")
    @classmethod
    def _is_a_path(cls, name: str) -> str:
        if not PATH.fullmatch(name):
            raise mistake(
                f"{name!r} names no layer's field", "write for example IP.dst or IP[2].dst"
            )
        return name

    @model_validator(mode="after")
    def _options_go_together(self) -> Self:
        if isinstance(self.values, tuple):
            if self.count not in (None, len(self.values)):
                raise mistake(f"{self.count} are not as many as are listed", "remove it", "count")
            if self.step != 1:
                raise mistake("listed values have no step", "remove it", "step")
        if self.values != "random" and self.seed != 0:
            raise mistake("only random values have a seed", "remove it", "seed")
        return self


def _form(given: object) -> str:
    return "name" if isinstance(given, str) else "Variation"


Varied = Annotated[
    Annotated[str, Tag("name")] | Annotated[Variation, Tag("Variation")], Discriminator(_form)
]


def _listed(given: object) -> object:
    return (given,) if isinstance(given, str) else given


# One name may stand without its list.
VariedFields = Annotated[tuple[Varied, ...], Field(max_length=8), BeforeValidator(_listed)]


def tells_flows_apart(varied: str | Variation) -> bool:
    """Whether a field counts the flows, not something of its own."""
    if isinstance(varied, str):
        return True
    return varied.values == "increment" and varied.count is None


def check_name(name: str) -> None:
    """Raise InputError for what is neither a short name nor a field's path."""
    if name not in SHORT_NAMES and not PATH.fullmatch(name):
        general = f"use {', '.join(SHORT_NAMES)}, or a field such as IP.dst"
        raise InputError(f"unknown field {name!r}", remedy=did_you_mean(name, SHORT_NAMES, general))
