"""Searches for the highest load that a packet dataplane carries, for anybody's generator.

A search asks for trials and is told what came of them; README.md shows how. The names here are
those that this takes; each is loaded when it is first used.
"""

from __future__ import annotations

# As in typing, whose import would take longer than all of this. Type checkers know it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from .evidence.counted import CountedInterval, Latencies, evidence_of_intervals
    from .evidence.trial_evidence import TrialEvidence
    from .registry import settings_of
    from .simulated.tester import SimulatedTester
    from .strategy.ask import Ask, Finished, GoalEnd, Search, Told
    from .strategy.judged_by_loss import judged_by_loss
    from .text.errors import InputError
    from .text.units import Rate

__all__ = [
    "Ask",
    "CountedInterval",
    "Finished",
    "GoalEnd",
    "InputError",
    "Latencies",
    "Rate",
    "Search",
    "SimulatedTester",
    "Told",
    "TrialEvidence",
    "evidence_of_intervals",
    "judged_by_loss",
    "settings_of",
]

_PLACES = {
    "evidence.counted": ("CountedInterval", "Latencies", "evidence_of_intervals"),
    "evidence.trial_evidence": ("TrialEvidence",),
    "registry": ("settings_of",),
    "simulated.tester": ("SimulatedTester",),
    "strategy.ask": ("Ask", "Finished", "GoalEnd", "Search", "Told"),
    "strategy.judged_by_loss": ("judged_by_loss",),
    "text.errors": ("InputError",),
    "text.units": ("Rate",),
}


def __getattr__(name: str) -> object:
    """One of the names above, from its module."""
    for module, names in _PLACES.items():
        if name in names:
            from importlib import import_module  # noqa: PLC0415

            return getattr(import_module(f".{module}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
