"""The highest load of which something is true."""

from __future__ import annotations

import math
from collections.abc import Callable

# Odds need not fall evenly with the load, so a whole range is looked at, this finely.
_STEPS_PER_DOUBLING = 40
_HALVINGS = 16


def highest_load(holds: Callable[[float], bool], least_pps: float, most_pps: float) -> float | None:
    """The highest load from `least_pps` to `most_pps` at which `holds`; None without one.

    Found downwards from the top in steps of 1.7 %, then by halving the step.
    """
    above_pps = most_pps
    if holds(above_pps):
        return above_pps
    steps = math.ceil(math.log2(most_pps / least_pps) * _STEPS_PER_DOUBLING)
    for step in range(1, steps + 1):
        load_pps = max(least_pps, most_pps * 2.0 ** (-step / _STEPS_PER_DOUBLING))
        if holds(load_pps):
            return _halved(holds, load_pps, above_pps)
        above_pps = load_pps
    return None


def _halved(holds: Callable[[float], bool], below_pps: float, above_pps: float) -> float:
    for _ in range(_HALVINGS):
        middle_pps = (below_pps + above_pps) / 2
        if holds(middle_pps):
            below_pps = middle_pps
        else:
            above_pps = middle_pps
    return below_pps
