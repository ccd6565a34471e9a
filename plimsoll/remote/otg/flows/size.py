"""A flow's frame sizes in the order of sending, in bytes with FCS."""

from __future__ import annotations

import random

from plimsoll.remote.otg.model.given import Given
from plimsoll.traffic.imix import LONGEST_SEQUENCE, SizeShare, sizes_in_order

# Their draws repeat after so many frames: enough for any mean, and few templates.
_DRAWN = 1024
_SEED = 1
# OTG names these mixes and does not say what they are. Sizes and weights follow what IxNetwork
# calls by these names, to our knowledge: not held against it (docs/otg.md).
_PREDEFINED = {
    "imix": ((64, 7), (570, 4), (1518, 1)),
    "ipsec_imix": ((90, 5867), (92, 200), (594, 2366), (1418, 1567)),
    "ipv6_imix": ((60, 5867), (496, 200), (594, 2366), (1518, 1567)),
    "standard_imix": ((58, 5867), (62, 200), (594, 2366), (1518, 1567)),
    "tcp_imix": ((90, 5867), (92, 200), (594, 2366), (1518, 1567)),
}
_MOST_SIZES = 64
# So many frames pass at the most until weights repeat; finer ones are rounded to it.
_WEIGHT_SUM = 1000


def read_sizes(given: Given) -> tuple[int, ...]:
    """The sizes as they follow each other, over and over. Raises Refusal."""
    match given.choice:
        case "fixed":
            return (given.whole("fixed"),)
        case "increment":
            return _counted(given.part("increment"))
        case "random":
            return _drawn(given.part("random"))
    return _weighted(given.part("weight_pairs"))


def _counted(given: Given) -> tuple[int, ...]:
    start, end, step = (given.whole(field) for field in ("start", "end", "step"))
    if start > end or step < 1:
        raise given.refused("", f"no sizes from {start} to {end} in steps of {step}")
    sizes = range(start, end + 1, step)
    if len(sizes) > LONGEST_SEQUENCE:
        raise given.refused("step", f"{len(sizes)} sizes", f"give at most {LONGEST_SEQUENCE}")
    return tuple(sizes)


def _drawn(given: Given) -> tuple[int, ...]:
    least, most = given.whole("min"), given.whole("max")
    if least > most:
        raise given.refused("min", f"{least} is more than max")
    # As in all traffic, chance is repeatable, and no secret.
    chance = random.Random(_SEED)  # noqa: S311
    return tuple(chance.randint(least, most) for _ in range(_DRAWN))


def _weighted(given: Given) -> tuple[int, ...]:
    if given.choice == "predefined":
        return _in_order(list(_PREDEFINED[given.text("predefined")]))
    pairs = given.parts("custom")
    if not 1 <= len(pairs) <= _MOST_SIZES:
        raise given.refused("custom", f"{len(pairs)} sizes", f"give 1 to {_MOST_SIZES}")
    weights = [pair.real("weight") for pair in pairs]
    for pair, weight in zip(pairs, weights, strict=True):
        if not 0 <= weight < float("inf"):
            raise pair.refused("weight", f"found {weight}", "give 0 or more")
    if sum(weights) <= 0:
        raise given.refused("custom", "all weights are 0")
    shares = [(pair.whole("size"), weight) for pair, weight in zip(pairs, weights, strict=True)]
    return _in_order([share for share in shares if share[1] > 0])


def _in_order(shares: list[tuple[int, int]] | list[tuple[int, float]]) -> tuple[int, ...]:
    total = sum(weight for _, weight in shares)
    exact = total <= _WEIGHT_SUM and all(float(weight).is_integer() for _, weight in shares)
    scale = 1.0 if exact else _WEIGHT_SUM / total
    return sizes_in_order(
        tuple(SizeShare(size=size, weight=max(1, round(weight * scale))) for size, weight in shares)
    )
