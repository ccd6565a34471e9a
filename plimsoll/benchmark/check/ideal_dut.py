"""A DUT by definition, never run: it passes every trial up to some load, and fails all above."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from plimsoll.record.trials.trial_evidence import LossSample, TrialEvidence
from plimsoll.search.strategy.ask import Ask, Phase, Search, Told

# Of every frame: an ideal DUT does nothing but forward.
_LATENCY_NS = 20_000
# Far more than any search with reasonable settings asks for.
_MOST_TRIALS = 100_000


@dataclass(frozen=True)
class SearchCost:
    """What a search asks for before it ends: by phase its trials, and their length in s."""

    trials: Counter[Phase] = field(default_factory=Counter)
    seconds: defaultdict[Phase, float] = field(default_factory=lambda: defaultdict(float))


def cost_of(search: Search, goals: Collection[str], capacity_pps: float) -> SearchCost | None:
    """Of a search that begins, on a DUT that carries so much per direction.

    No trial is invalid, and none ends before its time. None where the search goes on and on.
    """
    cost = SearchCost()
    for _ in range(_MOST_TRIALS):
        ask = search.ask()
        if not isinstance(ask, Ask):
            return cost
        cost.trials[ask.phase] += 1
        cost.seconds[ask.phase] += ask.duration_s
        search.tell(_answer(ask, goals, capacity_pps))
    return None


def _answer(ask: Ask, goals: Collection[str], capacity_pps: float) -> Told:
    held = ask.load_pps <= capacity_pps
    rules: Mapping[str, tuple[str, ...]] = dict.fromkeys(goals, () if held else ("loss-ratio",))
    return Told(
        verdicts=dict.fromkeys(goals, "pass" if held else "fail"),
        evidence=_evidence(ask, max(0.0, 1 - capacity_pps / ask.load_pps)),
        rules=rules,
    )


def _evidence(ask: Ask, loss_ratio: float) -> TrialEvidence:
    """Of a trial of two directions that loses the same share from its first moment on."""
    offered = max(1, round(2 * ask.load_pps * ask.duration_s))
    lost = max(1, round(offered * loss_ratio)) if loss_ratio else 0
    losses = (LossSample(begin_s=0.0, end_s=ask.duration_s, frames=lost),) if lost else ()
    return TrialEvidence(
        sending_s=ask.duration_s,
        intervals=max(1, round(ask.duration_s)),
        offered=offered,
        lost=lost,
        loss_ratio=loss_ratio,
        forwarded_pps=ask.load_pps * (1 - loss_ratio),
        first_loss_s=0.0 if lost else None,
        lossy_intervals=len(losses),
        losses=losses,
        min_ns=_LATENCY_NS,
        p50_ns=_LATENCY_NS,
        p99_ns=_LATENCY_NS,
        max_ns=_LATENCY_NS,
        latency_growth=0.0,
        peaks=(),
        offered_pps=ask.load_pps,
    )
