"""An experiment's goals, and what they are judged by."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from plimsoll.benchmark.experiment.judged_search import (
    ExperimentSearch,
    goal_criteria,
    judged_by_criteria,
)
from plimsoll.search.mlrsearch.goal import Goal
from plimsoll.search.registry import strategies
from plimsoll.search.strategy.ask import ONLY_GOAL
from plimsoll.trial.criteria.frame_count import FrameCount
from plimsoll.trial.criteria.latency_bound import LatencyBound
from plimsoll.trial.criteria.loss_ratio import LossRatio
from tests.worded.says import Says

WHOLE_FRAMES = (FrameCount(kind="corrupt"), FrameCount(kind="misdirected"))
LATENCY = {"kind": "latency", "quantile": "p99", "at_most": "200us", "role": "load"}
NO_LOSS = {"kind": "loss-ratio", "at_most": 0}


def _search(strategy: str, **given: object) -> Any:
    bounds = {"strategy": strategy, "minimum": "10kpps", "maximum": "2Mpps"}
    return TypeAdapter(ExperimentSearch).validate_python(bounds | given)


@pytest.mark.parametrize("strategy", strategies())
def test_without_goals_there_is_one_by_the_experiments_criteria(strategy: str) -> None:
    assert goal_criteria(_search(strategy)) == {ONLY_GOAL: None}


@pytest.mark.parametrize("strategy", ["load-line", "mlrsearch"])
def test_goals_have_criteria_or_a_loss_ratio(strategy: str) -> None:
    goals = [
        {"name": "fast", "criteria": [LATENCY]},
        {"name": "lossless", "loss_ratio": 0},
        {"name": "rest"},
    ]
    assert goal_criteria(_search(strategy, goals=goals)) == {
        "fast": (LatencyBound.model_validate(LATENCY),),
        "lossless": (LossRatio(at_most=0, per="total"), *WHOLE_FRAMES),
        "rest": None,
    }


@pytest.mark.parametrize("strategy", ["load-line", "mlrsearch"])
def test_a_goal_has_not_both(strategy: str, says: Says) -> None:
    with pytest.raises(ValidationError) as raised:
        _search(strategy, goals=[{"name": "x", "loss_ratio": 0, "criteria": [LATENCY]}])
    assert raised.value == says("loss_ratio", "criteria")


def test_criteria_are_in_place_of_what_a_preset_lets_be_lost() -> None:
    search = _search("mlrsearch", goals=[{"preset": "csit-pdr", "criteria": [LATENCY]}, "csit-ndr"])
    assert goal_criteria(search) == {
        "csit-pdr": (LatencyBound.model_validate(LATENCY),),
        "csit-ndr": (LossRatio(at_most=0, per="total"), *WHOLE_FRAMES),
    }
    assert search.goals[0].goal == Goal("csit-pdr", 0.5, 0.005, 1, 1, 21)


def test_load_line_knows_the_loss_that_criteria_allow() -> None:
    goals = [
        {"name": "ndr", "criteria": [NO_LOSS, LATENCY]},
        {"name": "fast", "criteria": [LATENCY]},
        {"name": "rest"},
    ]
    own = (LossRatio(at_most=0.01), LossRatio(at_most=0.02, per="total"))
    judged = judged_by_criteria(_search("load-line", goals=goals), own, None)
    assert judged.loss_ratios == {"ndr": 0.0, "fast": 1.0, "rest": 0.01}
    assert judged_by_criteria(_search("load-line"), own, None).loss_ratios == {ONLY_GOAL: 0.01}


@pytest.mark.parametrize("strategy", ["load-line", "mlrsearch"])
@pytest.mark.parametrize("goals", [[{"name": "x", "criteria": [LATENCY]}], [{"name": "y"}]])
def test_goals_survive_being_written_and_read(strategy: str, goals: list[Any]) -> None:
    search = _search(strategy, goals=goals)
    written = TypeAdapter(ExperimentSearch).dump_python(search, mode="json")
    assert TypeAdapter(ExperimentSearch).validate_python(written) == search
