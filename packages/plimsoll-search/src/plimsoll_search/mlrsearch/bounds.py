"""Relevant bounds: RFC 9971, "Relevant Upper Bound" and "Relevant Lower Bound"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .classification import LoadClass


@dataclass(frozen=True, slots=True)
class RelevantBounds:
    """The lowest upper bound, and the highest lower bound below it, in pps.

    Without an upper bound the RFC knows no relevant lower bound either; here it is then
    the highest lower bound, which the RFC lets be told of an irregular result.
    `inversions` are the lower bounds above the upper one, from the lowest up: loads that
    are not believed, because a lower one failed.
    """

    lower_pps: float | None
    upper_pps: float | None
    inversions: tuple[float, ...] = ()


def relevant_bounds(classes: Mapping[float, LoadClass]) -> RelevantBounds:
    """The bounds among loads in pps, by what each was classified as."""
    lowers = sorted(load for load, found in classes.items() if found == "lower")
    upper = min((load for load, found in classes.items() if found == "upper"), default=None)
    believed = [load for load in lowers if upper is None or load < upper]
    return RelevantBounds(
        lower_pps=believed[-1] if believed else None,
        upper_pps=upper,
        inversions=tuple(lowers[len(believed) :]),
    )
