"""What may be written under `search` with strategy: load-line."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from plimsoll.errors import InputError
from plimsoll.search.load_line.settings import LoadLineSettings
from plimsoll.search.strategy.ask import ONLY_GOAL, Ask
from plimsoll.text.units import Rate
from tests.unit.search.load_line.fluid_dut import FluidDut, search_all
from tests.worded.says import Says

RANGE = {"strategy": "load-line", "minimum": "10kpps", "maximum": "1Mpps"}


def _to_pps(field: str, rate: Rate) -> float:
    return rate.to_pps(64, None, None)


def test_without_goals_there_is_one_whose_loss_the_caller_knows() -> None:
    assert LoadLineSettings.model_validate(RANGE).loss_ratios == {ONLY_GOAL: None}


def test_a_goal_that_does_not_say_what_may_be_lost_leaves_it_to_the_caller() -> None:
    alone = LoadLineSettings.model_validate(RANGE).judged_by({ONLY_GOAL: 0.01})
    assert alone.loss_ratios == {ONLY_GOAL: 0.01}
    goals = [{"name": "ndr", "loss_ratio": 0}, {"name": "rest"}]
    both = LoadLineSettings.model_validate(RANGE | {"goals": goals})
    assert both.judged_by({"ndr": 0.5, "rest": 0.01}).loss_ratios == {"ndr": 0.0, "rest": 0.01}


@pytest.mark.parametrize("allowed", [1e-4, 1e-3])
def test_a_little_loss_that_is_allowed_ends_at_a_load_that_holds(allowed: float) -> None:
    """Every 3 s a stall of 5 ms loses what its 1000 frames of buffer do not hold."""
    settings = RANGE | {"validation": {"duration": "1h"}}
    judged = LoadLineSettings.model_validate(settings).judged_by({ONLY_GOAL: allowed})
    search = judged.begin(_to_pps)
    dut = FluidDut(capacity_pps=5e5, period_s=3.0, stall_s=5e-3, tolerance=allowed)
    end, _, asks = search_all(search, dut)
    # load * 5 ms - 1000 = allowed * load * 3 s
    sustained_pps = 1000 / (5e-3 - 3.0 * allowed)
    assert end.first.load_line_pps is not None
    assert 0.97 * sustained_pps < end.first.load_line_pps <= 1.01 * sustained_pps
    assert sum(each.phase == "validation" for each in asks) <= 3


def test_a_validation_that_is_judged_in_windows_ends_at_a_lower_load(says: Says) -> None:
    """In each of twelve windows no more stalls may come than in the mean of an hour."""
    settings = LoadLineSettings.model_validate(RANGE | {"validation": {"duration": "1h"}})
    found = []
    for window_s in (None, 300.0):
        dut = FluidDut(capacity_pps=5e5, period_s=3.0, stall_s=5e-3, tolerance=1e-4)
        search = settings.judged_by({ONLY_GOAL: 1e-4}, window_s).begin(_to_pps)
        end, _, _ = search_all(search, dut)
        assert end.first.load_line_pps is not None
        found.append(end)
    whole, windows = (end.first.load_line_pps or 0.0 for end in found)
    assert windows < 0.99 * whole
    assert found[1].first.notes[0] == says("5m00s")


def test_it_begins_with_a_short_trial_at_the_maximum() -> None:
    asked = LoadLineSettings.model_validate(RANGE | {"duration": "3s"}).begin(_to_pps).ask()
    assert asked == Ask("search", 1e6, 3.0, goal=ONLY_GOAL, early_abort=False)


def test_the_watch_is_short_beside_the_validation() -> None:
    """A tenth of it at most."""
    asked = RANGE | {"watch": "60s", "validation": {"duration": "100s"}}
    search = LoadLineSettings.model_validate(asked).begin(_to_pps)
    dut = FluidDut(capacity_pps=5e5, period_s=3.0, stall_s=3e-3)
    _, _, asks = search_all(search, dut)
    watches = [each.duration_s for each in asks if each.phase == "watch"]
    assert watches[0] == 10.0


def test_goals_go_by_name_in_order() -> None:
    goals = [
        {"name": "ndr", "loss_ratio": 0},
        {"name": "pdr", "loss_ratio": "0.5%"},
    ]
    settings = LoadLineSettings.model_validate(RANGE | {"goals": goals})
    assert list(settings.loss_ratios.items()) == [("ndr", 0.0), ("pdr", 0.005)]


def test_two_goals_of_a_name_are_refused(says: Says) -> None:
    goals = [{"name": "ndr"}, {"name": "ndr"}]
    with pytest.raises(ValidationError) as caught:
        LoadLineSettings.model_validate(RANGE | {"goals": goals})
    assert caught.value == says("goals", "ndr")


@pytest.mark.parametrize(
    ("field", "value"),
    [("width", "0.00001%"), ("confidence", "40%"), ("attempts", 0), ("duration", "8d")],
)
def test_values_out_of_range_name_their_field(field: str, value: object) -> None:
    with pytest.raises(ValidationError, match=field):
        LoadLineSettings.model_validate(RANGE | {field: value})


def test_a_range_upside_down_is_refused_with_what_to_do(says: Says) -> None:
    settings = LoadLineSettings.model_validate(RANGE | {"minimum": "2Mpps"})
    with pytest.raises(InputError) as caught:
        settings.begin(_to_pps)
    assert caught.value == says("2", "Mpps", "1", "minimum")
    assert caught.value.where == "search.minimum"


def test_a_budget_is_at_least_one_validation(says: Says) -> None:
    asked = RANGE | {"validation": {"duration": "3h"}}
    assert LoadLineSettings.model_validate(asked | {"budget": "6h"}).budget == 21_600
    with pytest.raises(ValidationError) as caught:
        LoadLineSettings.model_validate(asked | {"budget": "1h"})
    assert caught.value == says("validation")
