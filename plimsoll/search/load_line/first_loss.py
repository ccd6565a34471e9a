"""How long loads lasted until their first loss, where nothing says what lost it.

Trying a little lower each time ends at the load that happened to pass, not at one that lasts:
of enough trials of loads that mostly fail, one passes. So what is tried next is a load that,
given that it passes, is likely to pass again. First losses come as a Poisson process, at a rate
that is a power of the load; how steep, nobody knows before, so all powers have their weight by
Bayes' rule.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plimsoll.search.load_line.tried import Tried

# Believed before anything was seen: any power of ten from a loss that load hardly makes likelier
# to one that a per mille more or less decides on; any rate from one in a hundred validations to
# a hundred thousand in one.
_POWERS = tuple(10.0 * 10.0 ** (step / 8.0) for step in range(17))
_RATES = tuple(10.0 ** (step / 6.0) for step in range(-12, 31))
_HALVINGS = 20
_LOWEST = 0.5


@dataclass(frozen=True, slots=True)
class Lasted:
    """A load, for how long it lost nothing, and whether it then lost something."""

    load_pps: float
    seconds: float
    lost: bool


def lasted(trials: Sequence[Tried], least_s: float) -> list[Lasted]:
    """What trials of at least `least_s` say, none of them overloaded."""
    return [
        Lasted(each.load_pps, _until_s(each), each.evidence.first_loss_s is not None)
        for each in trials
        if each.asked.duration_s >= least_s
    ]


def _until_s(tried: Tried) -> float:
    """Within the interval of its first loss: half of that at least."""
    first_s = tried.evidence.first_loss_s
    return tried.evidence.sending_s if first_s is None else max(first_s, tried.interval_s / 2.0)


def lasting_pps(seen: Sequence[Lasted], duration_s: float, confidence: float) -> float | None:
    """The highest load, below the lowest that lost anything, that passes twice if it does once.

    None where nothing was lost. Never less than half of that load.
    """
    reference_pps = min((each.load_pps for each in seen if each.lost), default=None)
    if reference_pps is None:
        return None
    weighed = list(_weighed(seen, reference_pps, duration_s))
    low, high = _LOWEST, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        once = sum(w * math.exp(-rate * middle**power) for w, rate, power in weighed)
        twice = sum(w * math.exp(-2.0 * rate * middle**power) for w, rate, power in weighed)
        if twice >= confidence * once:
            low = middle
        else:
            high = middle
    return low * reference_pps


def _weighed(
    seen: Sequence[Lasted], reference_pps: float, duration_s: float
) -> Iterator[tuple[float, float, float]]:
    """Weight, losses in a validation at the reference, and power: of all that is believed."""
    found = [
        (_log_likelihood(seen, reference_pps, duration_s, rate, power), rate, power)
        for rate in _RATES
        for power in _POWERS
    ]
    most = max(log for log, _, _ in found)
    return ((math.exp(log - most), rate, power) for log, rate, power in found)


def _log_likelihood(
    seen: Sequence[Lasted], reference_pps: float, duration_s: float, rate: float, power: float
) -> float:
    log = 0.0
    for each in seen:
        log_mean = power * math.log(each.load_pps / reference_pps) + math.log(rate)
        log -= math.exp(min(log_mean, 700.0)) * each.seconds / duration_s
        log += log_mean if each.lost else 0.0
    return log
