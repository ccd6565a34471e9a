"""How long loads lasted until their first loss, where nothing says what lost it.

Trying a little lower each time ends at the load that happened to pass, not at one that lasts:
of enough trials of loads that mostly fail, one passes. So what is tried next is a load that,
given that it passes, is likely to pass again. First losses come as a Poisson process, at a rate
that is a power of the load; how steep, nobody knows before, so all powers have their weight by
Bayes' rule.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .tried import Tried

# Believed before anything was seen: any power of ten from a loss that load hardly makes likelier
# to one that a per mille more or less decides on; any rate from one in a hundred validations to
# a hundred thousand in one.
_POWERS = tuple(10.0 * 10.0 ** (step / 8.0) for step in range(17))
_RATES = tuple(10.0 ** (step / 6.0) for step in range(-12, 31))
_LOG_RATES = tuple(math.log(rate) for rate in _RATES)
_HALVINGS = 20
_LOWEST = 0.5
# Of a weight, as its logarithm: a sum of all that is less shows in no digit.
_NEGLIGIBLE = -50.0

# A power, and the weight of each rate with it.
_Weighed = tuple[float, tuple[tuple[float, float], ...]]


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
    weighed = _weighed(seen, reference_pps, duration_s)
    low, high = _LOWEST, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        if _passes_again(weighed, middle) >= confidence:
            low = middle
        else:
            high = middle
    return low * reference_pps


def _passes_again(weighed: Sequence[_Weighed], share: float) -> float:
    """How likely this share of the reference passes a validation, given that it passed one."""
    once = twice = 0.0
    for power, rates in weighed:
        losses_per_rate = share**power
        for weight, rate in rates:
            passes = math.exp(-rate * losses_per_rate)
            once += weight * passes
            twice += weight * passes * passes
    return twice / once if once > 0.0 else 0.0


def _weighed(
    seen: Sequence[Lasted], reference_pps: float, duration_s: float
) -> tuple[_Weighed, ...]:
    """All that is still believed: by power, weights and losses in a validation at the reference."""
    logs = {power: _log_likelihoods(seen, reference_pps, duration_s, power) for power in _POWERS}
    most = max(max(each) for each in logs.values())
    return tuple(
        (
            power,
            tuple(
                (math.exp(log - most), rate)
                for log, rate in zip(each, _RATES, strict=True)
                if log - most > _NEGLIGIBLE
            ),
        )
        for power, each in logs.items()
    )


def _log_likelihoods(
    seen: Sequence[Lasted], reference_pps: float, duration_s: float, power: float
) -> list[float]:
    """Of each rate, with the power."""
    logs = [(power * math.log(each.load_pps / reference_pps), each) for each in seen]
    validations = sum(math.exp(min(log, 700.0)) * each.seconds for log, each in logs) / duration_s
    lost = [log for log, each in logs if each.lost]
    once = sum(lost)
    return [
        once + len(lost) * log_rate - rate * validations
        for rate, log_rate in zip(_RATES, _LOG_RATES, strict=True)
    ]
