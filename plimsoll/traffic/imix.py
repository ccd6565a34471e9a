"""Mixes of frame sizes: by name, as an RFC 6985 genome, or as sizes with weights.

"IMIX" is not one mix, so sizes and weights are always stated. Sizes are bytes with FCS.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StrictInt,
    Tag,
)

from plimsoll.text.mistakes import brief, did_you_mean, mistake

# What the engine takes as a stream's order of templates.
LONGEST_SEQUENCE = 4096
_MAX_SIZES = 64


class SizeShare(BaseModel):
    """One frame size of a mix, and its relative weight."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    size: StrictInt
    weight: Annotated[StrictInt, Field(ge=1, le=LONGEST_SEQUENCE)] = 1


def _share(size: int, weight: int) -> SizeShare:
    return SizeShare(size=size, weight=weight)


# All are 7:4:1. The first is IP packets of 40, 576 and 1500 bytes in Ethernet frames, as
# NFVbench sends; the others are FD.io CSIT's IMIX_v4_1 and VSPERF's.
NAMED_MIXES = {
    "simple": (_share(64, 7), _share(594, 4), _share(1518, 1)),
    "csit": (_share(64, 7), _share(570, 4), _share(1518, 1)),
    "vsperf": (_share(64, 7), _share(512, 4), _share(1518, 1)),
}
# RFC 6985, section 4. Its j, of 16000 bytes, is more than a frame may have, and its z
# stands for an MTU that a profile does not know.
GENOME = {
    "a": 64,
    "b": 128,
    "c": 256,
    "d": 512,
    "e": 1024,
    "f": 1280,
    "g": 1518,
    "h": 2112,
    "i": 9000,
}


_FORMS = (
    f"use {', '.join(NAMED_MIXES)}, RFC 6985's letters a to i, or sizes with weights, as in "
    "[{size: 64, weight: 7}]"
)


def _known(given: object) -> object:
    if isinstance(given, list | tuple):
        return given
    if not isinstance(given, str):
        raise mistake(f"{brief(given)} is not a valid mix", _FORMS)
    if given not in NAMED_MIXES and not (given and set(given) <= set(GENOME)):
        raise mistake(f"unknown mix {given[:40]!r}", did_you_mean(given, NAMED_MIXES, _FORMS))
    if len(given) > LONGEST_SEQUENCE:
        problem = f"{len(given)} letters are more than {LONGEST_SEQUENCE}"
        raise mistake(problem, "give a shorter sequence")
    return given


def _repeats_in_time(mix: str | tuple[SizeShare, ...]) -> str | tuple[SizeShare, ...]:
    total = 0 if isinstance(mix, str) else sum(_reduced(mix).values())
    if total > LONGEST_SEQUENCE:
        problem = f"it takes {total} frames until the weights repeat"
        raise mistake(problem, f"give weights with a sum of at most {LONGEST_SEQUENCE}")
    return mix


def sizes_in_order(mix: str | tuple[SizeShare, ...]) -> tuple[int, ...]:
    """The sizes as they are sent, over and over: a genome as it stands, else spread evenly."""
    if isinstance(mix, str) and mix not in NAMED_MIXES:
        return tuple(GENOME[letter] for letter in mix)
    shares = NAMED_MIXES[mix] if isinstance(mix, str) else mix
    return _spread(_reduced(shares))


def describe_mix(sizes: Sequence[int]) -> str:
    """For people: "7 of 64, 4 of 594, 1 of 1518 bytes, in the mean 361.8"."""
    counts = ", ".join(f"{count} of {size}" for size, count in sorted(Counter(sizes).items()))
    return f"{counts} bytes, in the mean {sum(sizes) / len(sizes):.1f}"


def _reduced(shares: Sequence[SizeShare]) -> dict[int, int]:
    """Weights by size, without common divisors."""
    weights: Counter[int] = Counter()
    for share in shares:
        weights[share.size] += share.weight
    divisor = math.gcd(*weights.values())
    return {size: weight // divisor for size, weight in weights.items()}


def _spread(weights: dict[int, int]) -> tuple[int, ...]:
    """Each size as evenly as may be: the one sent is that which is furthest behind its share."""
    total = sum(weights.values())
    credit = dict.fromkeys(weights, 0)
    order = []
    for _ in range(total):
        for size, weight in weights.items():
            credit[size] += weight
        chosen = max(credit, key=lambda size: credit[size])
        credit[chosen] -= total
        order.append(chosen)
    return tuple(order)


def _form(given: object) -> str:
    return "name" if isinstance(given, str) else "SizeShare"


_Shares = Annotated[tuple[SizeShare, ...], Field(min_length=1, max_length=_MAX_SIZES)]
Imix = Annotated[
    Annotated[str, Tag("name")] | Annotated[_Shares, Tag("SizeShare")],
    Discriminator(_form),
    BeforeValidator(_known),
    AfterValidator(_repeats_in_time),
]
