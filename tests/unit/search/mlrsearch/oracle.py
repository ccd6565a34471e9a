"""The library of RFC 9971's authors, PyPI's MLRsearch, asked about trials that were not its own."""

from collections.abc import Sequence
from dataclasses import dataclass

from MLRsearch.discrete_load import DiscreteLoad
from MLRsearch.discrete_result import DiscreteResult
from MLRsearch.discrete_width import DiscreteWidth
from MLRsearch.goal_result import GoalResult
from MLRsearch.load_rounding import LoadRounding
from MLRsearch.measurement_database import MeasurementDatabase
from MLRsearch.target_spec import TargetSpec
from MLRsearch.trial_measurement import MeasurementResult

from plimsoll.search.mlrsearch.goal import Goal

OFFERED = 1000
_ROUNDING = LoadRounding(min_load=1e5, max_load=1e6, float_goals=[0.05])


@dataclass(frozen=True)
class Trial:
    """A trial at the so-maniest load of the library's grid: `lost` of 1000 frames."""

    step: int
    duration_s: float
    lost: int


@dataclass(frozen=True)
class Opinion:
    """What the library makes of the trials, for one goal."""

    # By step: whether the load could be a lower bound at best, and whether at worst.
    estimates: dict[int, tuple[bool, bool]]
    lower_pps: float | None
    upper_pps: float | None
    conditional_pps: float | None


def load_of(step: int) -> float:
    """In pps."""
    return float(DiscreteLoad(rounding=_ROUNDING, int_load=step))


def opinion(goal: Goal, loss_ratio: float, trials: Sequence[Trial]) -> Opinion:
    """The library's classification, relevant bounds and conditional throughput."""
    target = TargetSpec(
        loss_ratio=loss_ratio,
        exceed_ratio=goal.exceed_ratio,
        discrete_width=DiscreteWidth(rounding=_ROUNDING, int_width=1),
        trial_duration=goal.final_duration_s,
        duration_sum=goal.duration_sum_s,
        expansion_coefficient=2,
        fail_fast=False,
        preceding=None,
    )
    database = MeasurementDatabase((target,))
    for trial in trials:
        database.add(_result(trial))
    result = GoalResult.from_bounds(database.get_relevant_bounds(target))
    return Opinion(
        {int(load): stats.estimates(target) for load, stats in database.load_to_stats.items()},
        _pps(result.relevant_lower_bound),
        _pps(result.relevant_upper_bound),
        _pps(result.conditional_throughput),
    )


def _result(trial: Trial) -> DiscreteResult:
    load = DiscreteLoad(rounding=_ROUNDING, int_load=trial.step)
    measured = MeasurementResult(
        intended_duration=trial.duration_s,
        intended_load=float(load),
        offered_count=OFFERED,
        loss_count=trial.lost,
    )
    return DiscreteResult.with_load(measured, load)


def _pps(load: DiscreteLoad | None) -> float | None:
    return None if load is None else float(load)
