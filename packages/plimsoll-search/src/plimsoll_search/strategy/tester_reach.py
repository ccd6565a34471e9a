"""Loads that the tester cannot test: one policy for every strategy.

An offered rate far short of the load is the tester's ceiling, which no repetition lifts:
the search goes down at once to what was offered. Everything else that makes a trial invalid
may pass, so the trial is run again. After a few loads in a row that could not be tested, a
search settles for the highest load that passed; where none has, it tries the minimum.
"""

from __future__ import annotations

from ..text.units import format_pps
from .ask import Ask, Told

# What a tester offers when it gives all it has differs from trial to trial: two in a row on
# shared CPUs came to 5.89 and 5.97 Mpps. Less than half of the 5 % by which the rate of a trial
# may be off (tester.rate_tolerance), so that the rest is left for a worse second.
_MARGIN = 0.02
# So many loads in a row that cannot be tested are not about the load.
_MOST_IN_A_ROW = 4


class Patience:
    """Counts the loads in a row that could not be tested."""

    def __init__(self) -> None:
        self._in_a_row = 0

    def renew(self) -> None:
        """A load was tested, or the search settled."""
        self._in_a_row = 0

    def lasts(self) -> bool:
        """Whether to go on as before, now that another load could not be tested."""
        self._in_a_row += 1
        return self._in_a_row < _MOST_IN_A_ROW


def sustainable_pps(offered_pps: float) -> float:
    """What a tester can offer in every trial that offered so much when it gave all it had."""
    return offered_pps * (1 - _MARGIN)


def within(reach_pps: float | None, minimum_pps: float, maximum_pps: float) -> float | None:
    """The reach as a bound of a search: never below the minimum; None where it bounds nothing."""
    if reach_pps is None or reach_pps >= maximum_pps:
        return None
    return max(reach_pps, minimum_pps)


def reach_of(asked: Ask, told: Told, minimum_pps: float) -> float | None:
    """The load to go down to where the trial met the tester's ceiling; None where it did not.

    At the minimum there is nothing to go down to, so its trials are run again like any.
    """
    if told.verdict(asked.goal) != "invalid" or told.offered_at_most_pps is None:
        return None
    if asked.load_pps <= minimum_pps:
        return None
    return max(minimum_pps, sustainable_pps(told.offered_at_most_pps))


def why_untestable(minimum_pps: float) -> str:
    """Why a search ended that could not even test its minimum, in a sentence."""
    return f"even at the minimum, {format_pps(minimum_pps)}, no trial could be tested"
