"""What can be written under `search` for a Multiple Loss Ratio search."""

from typing import Any

import pytest
from pydantic import ValidationError

from plimsoll.errors import InputError
from plimsoll.search.mlrsearch.goal import Goal, LoadSpan, MlrPlan, ValidationPlan
from plimsoll.search.mlrsearch.settings import MlrSettings
from plimsoll.search.strategy.ask import ONLY_GOAL, Ask
from plimsoll.text.units import Rate
from tests.worded.says import Says

BOUNDS: dict[str, Any] = {"strategy": "mlrsearch", "minimum": "10kpps", "maximum": "2Mpps"}


def _settings(**given: object) -> MlrSettings:
    return MlrSettings.model_validate(BOUNDS | given)


def _to_pps(field: str, rate: Rate) -> float:
    return rate.to_pps(64, None, None)


def test_defaults_are_one_goal_that_the_caller_judges_with_csits_trials() -> None:
    settings = _settings()
    assert settings.loss_ratios == {ONLY_GOAL: None}
    assert settings.plan(_to_pps) == MlrPlan(
        goals=(Goal(ONLY_GOAL, 0.5, 0.005, 1, 1, 21),),
        span=LoadSpan(10_000, 2_000_000),
        retries=3,
        early_abort=True,
        validation=ValidationPlan(60, 3, 0.005),
    )


def test_all_as_written() -> None:
    settings = _settings(
        goals=[
            {
                "name": "fast",
                "exceed_ratio": "20%",
                "width": "1%",
                "initial_trial_duration": "500ms",
                "final_trial_duration": "10s",
                "duration_sum": "1m",
            },
            {"name": "lossless", "loss_ratio": 0},
        ],
        retries=1,
        early_abort=False,
        validation={"duration": "3h", "retries": 0, "back_off": "1%"},
    )
    assert settings.plan(_to_pps) == MlrPlan(
        goals=(Goal("fast", 0.2, 0.01, 0.5, 10, 60), Goal("lossless", 0.5, 0.005, 1, 1, 21)),
        span=LoadSpan(10_000, 2_000_000),
        retries=1,
        early_abort=False,
        validation=ValidationPlan(10_800, 0, 0.01),
    )
    assert settings.loss_ratios == {"fast": None, "lossless": 0.0}


@pytest.mark.parametrize(
    ("preset", "loss_ratio", "goal"),
    [
        # CSIT's methodology, "Search Goals"; RFC 9971, its sections on compliance.
        ("csit-ndr", 0.0, Goal("csit-ndr", 0.5, 0.005, 1, 1, 21)),
        ("csit-pdr", 0.005, Goal("csit-pdr", 0.5, 0.005, 1, 1, 21)),
        ("rfc2544", 0.0, Goal("rfc2544", 0.0, 0.005, 60, 60, 60)),
        ("tst009", 0.0, Goal("tst009", 0.5, 0.005, 60, 60, 120)),
    ],
)
def test_presets(preset: str, loss_ratio: float, goal: Goal) -> None:
    (only,) = _settings(goals=[preset]).goals
    assert only.goal == goal
    assert only.loss_ratio == loss_ratio


def test_a_preset_can_be_changed() -> None:
    given = {"preset": "rfc2544", "name": "quick", "initial_trial_duration": "1s", "width": "2%"}
    (only,) = _settings(goals=[given]).goals
    assert only.goal == Goal("quick", 0.0, 0.02, 1, 60, 60)
    (judged,) = _settings(goals=[{"preset": "csit-pdr", "loss_ratio": None}]).goals
    assert judged.loss_ratio is None
    assert judged.goal == Goal("csit-pdr", 0.5, 0.005, 1, 1, 21)


def test_no_validation() -> None:
    settings = _settings(validation=None)
    assert settings.plan(_to_pps).validation is None
    # Asked for on the command line, there is one after all.
    assert settings.validated_for(5).plan(_to_pps).validation == ValidationPlan(5, 3, 0.005)


def test_another_length_of_validation_keeps_the_rest() -> None:
    settings = _settings(validation={"back_off": "2%", "retries": 7}).validated_for(600)
    assert settings.plan(_to_pps).validation == ValidationPlan(600, 7, 0.02)


@pytest.mark.parametrize(
    "given",
    [{}, {"goals": ["csit-ndr", "tst009"]}, {"validation": None}, {"goals": [{"name": "x"}]}],
)
def test_settings_survive_being_written_and_read(given: dict[str, Any]) -> None:
    settings = _settings(**given)
    assert MlrSettings.model_validate(settings.model_dump(mode="json")) == settings


def test_it_begins_at_the_maximum() -> None:
    asked = _settings(goals=["tst009"]).begin(_to_pps).ask()
    assert asked == Ask("search", 2_000_000, 60, goal="tst009")


def test_bounds_out_of_order(says: Says) -> None:
    with pytest.raises(InputError) as raised:
        _settings(minimum="3Mpps").begin(_to_pps)
    assert raised.value == says("search.minimum", "2")
    assert raised.value.where == "search.minimum"


@pytest.mark.parametrize(
    ("goals", "facts"),
    [
        (["csit-nrd"], ("csit-nrd",)),
        (
            [{"preset": "quickly"}],
            ("quickly", "preset", "rfc2544", "tst009"),
        ),
        (
            ["tst009", {"preset": "tst009"}],
            ("2", "tst009", "name:"),
        ),
        (
            [{"initial_trial_duration": "2s"}],
            ("2", "1s"),
        ),
        (
            [{"final_trial_duration": "30s"}],
            ("21", "30s"),
        ),
        (
            [{"initial_trial_duration": "2ms"}],
            ("21", "10000"),
        ),
    ],
)
def test_mistakes(goals: list[Any], facts: tuple[str, ...], says: Says) -> None:
    with pytest.raises(ValidationError) as raised:
        _settings(goals=goals)
    assert raised.value == says(*facts)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("exceed_ratio", 1),
        ("loss_ratio", 1),
        ("width", 0),
        ("width", "60%"),
        ("duration_sum", "8d"),
        ("name", "two words"),
        ("prest", "tst009"),
    ],
)
def test_values_out_of_range_and_unknown_fields(field: str, value: object) -> None:
    with pytest.raises(ValidationError) as raised:
        _settings(goals=[{field: value}])
    error = raised.value.errors()[0]
    assert error["loc"] == ("goals", 0, field)


def test_a_search_without_goals_is_refused() -> None:
    with pytest.raises(ValidationError):
        _settings(goals=[])
