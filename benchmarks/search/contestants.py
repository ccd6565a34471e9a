"""The strategies of the benchmark, by name, with the settings that their users give them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from benchmarks.search.simulated_bed import Goals
from benchmarks.search.trafficgen_bisection import TrafficgenBisection
from plimsoll.search.binary.settings import BinarySettings
from plimsoll.search.load_line.settings import LoadLineSettings
from plimsoll.search.mlrsearch.settings import MlrSettings
from plimsoll.search.strategy.ask import ONLY_GOAL, Search
from plimsoll.search.strategy.settings import SearchModel
from plimsoll.text.units import Rate
from plimsoll.trial.criteria.loss_ratio import LossRatio

# Every strategy searches here: from a per mille to twice the capacity of the models.
MINIMUM_PPS = 1e4
MAXIMUM_PPS = 2e6
VALIDATION_S = 10_800.0


@dataclass(frozen=True)
class Contest:
    """A search at its beginning, and what its trials are judged by.

    `by_verdict`: it looks at nothing else.
    """

    search: Search
    goals: Goals
    by_verdict: bool = False


Contestant = Callable[[float], Contest]


def _criteria(limit: float) -> tuple[LossRatio, ...]:
    return (LossRatio(at_most=limit),)


def _of_settings(settings: SearchModel, limit: float) -> Contest:
    goals = {name: _criteria(limit) for name in settings.loss_ratios}
    return Contest(settings.begin(_to_pps), goals)


def _to_pps(field: str, rate: Rate) -> float:
    return rate.to_pps(64, None, None)


def _range() -> dict[str, object]:
    return {"minimum": f"{MINIMUM_PPS:.0f}pps", "maximum": f"{MAXIMUM_PPS:.0f}pps"}


def _load_line(limit: float) -> Contest:
    goal = {"name": ONLY_GOAL, "loss_ratio": limit}
    settings = {"strategy": "load-line", "goals": [goal], "validation": {"duration": VALIDATION_S}}
    return _of_settings(LoadLineSettings.model_validate(_range() | settings), limit)


def _binary(limit: float) -> Contest:
    """Ours, with its defaults."""
    settings = {"strategy": "binary", "validation": {"duration": VALIDATION_S}}
    return _of_settings(BinarySettings.model_validate(_range() | settings), limit)


def _bisection(search_s: float) -> Contestant:
    def contest(limit: float) -> Contest:
        search = TrafficgenBisection(
            MINIMUM_PPS, MAXIMUM_PPS, search_s=search_s, validation_s=VALIDATION_S
        )
        return Contest(search, {ONLY_GOAL: _criteria(limit)}, by_verdict=True)

    return contest


def _mlrsearch(preset: str) -> Contestant:
    """Its validations end as soon as they have failed."""

    def contest(limit: float) -> Contest:
        goal = {"preset": preset, "name": ONLY_GOAL, "loss_ratio": limit}
        validation = {"duration": VALIDATION_S, "back_off": 0.005}
        settings = {"strategy": "mlrsearch", "goals": [goal], "validation": validation}
        return _of_settings(MlrSettings.model_validate(_range() | settings), limit)

    return contest


CONTESTANTS: Mapping[str, Contestant] = MappingProxyType(
    {
        "load-line": _load_line,
        "binary": _binary,
        "trafficgen-30s": _bisection(30.0),
        "bisection-60s": _bisection(60.0),
        "csit-ndr": _mlrsearch("csit-ndr"),
        "rfc2544": _mlrsearch("rfc2544"),
        "tst009": _mlrsearch("tst009"),
    }
)
