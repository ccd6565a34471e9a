"""The settings of a list of checkpoints, and its loads in pps."""

from typing import Any

import pytest
from pydantic import ValidationError

from plimsoll.errors import InputError
from plimsoll.search.checkpoints.settings import CheckpointSettings
from plimsoll.search.strategy.ask import Ask
from plimsoll.search.strategy.question import TrialPolicy
from tests.unit.search.rates import frames_of_64_bytes
from tests.worded.says import Says

BOUNDS: dict[str, Any] = {"strategy": "checkpoints", "minimum": "1kpps", "maximum": "100kpps"}


def _settings(**given: object) -> CheckpointSettings:
    return CheckpointSettings.model_validate(BOUNDS | given)


def test_defaults() -> None:
    plan = _settings().plan(frames_of_64_bytes())
    assert plan.loads_pps == pytest.approx(
        (1000, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000, 70_000, 80_000)
    )
    assert plan.checkpoint == TrialPolicy(
        "search", 60, retries=3, run_all_repetitions=True, is_validation=True
    )
    assert plan.validation is None


def test_all_as_written() -> None:
    plan = _settings(
        shares=["50%", "5%", 1],
        duration="10s",
        repeat=3,
        retries=1,
        validation={"duration": "3h", "retries": 0},
    ).plan(frames_of_64_bytes())
    assert plan.loads_pps == (5000, 50_000, 100_000)
    assert plan.checkpoint == TrialPolicy(
        "search", 10, retries=1, repeat=3, run_all_repetitions=True
    )
    assert plan.validation == TrialPolicy("validation", 10_800, retries=0, is_validation=True)


def test_rates_instead_of_shares() -> None:
    settings = _settings(rates=["0.5%", "2kpps"])
    assert list(settings.loads) == ["minimum", "maximum", "rates[0]", "rates[1]"]
    # Half a percent of a Gbps, in frames that take 672 bits of it: 7440 a second.
    plan = settings.plan(frames_of_64_bytes(1e9))
    assert plan.loads_pps == pytest.approx((2000, 1e9 / 672 / 200))


def test_the_lowest_comes_first() -> None:
    search = _settings(rates=["20kpps", "2kpps"]).begin(frames_of_64_bytes())
    assert search.ask() == Ask("search", 2000, 60, early_abort=False)


def test_a_share_that_misses_an_end_by_rounding_is_that_end() -> None:
    """In binary fractions 0.7 of the one is not the other."""
    assert 0.7 * 100_000.3 != 70_000.21
    given = {"minimum": 70_000.21, "maximum": 100_000.3, "shares": ["70%"]}
    plan = _settings(**given).plan(frames_of_64_bytes())
    assert plan.loads_pps == (70_000.21,)


def test_another_length_of_the_validation_is_a_validation_in_any_case() -> None:
    longer = _settings().validated_for(10_800)
    assert longer == _settings(validation={"duration": "3h"})
    kept = _settings(validation={"retries": 1}).validated_for(10_800)
    assert kept == _settings(validation={"duration": "3h", "retries": 1})


@pytest.mark.parametrize("loads", [{}, {"rates": ["2kpps", "60%"]}, {"shares": ["7%"]}])
def test_settings_survive_being_written_and_read(loads: dict[str, object]) -> None:
    given = _settings(**loads)
    assert CheckpointSettings.model_validate(given.model_dump(mode="json")) == given


@pytest.mark.parametrize(
    ("settings", "where", "facts"),
    [
        ({"minimum": "2kpps"}, "search.shares[0]", ("1", "kpps", "2", "100")),
        ({"rates": ["2kpps", "200kpps"]}, "search.rates[1]", ("200", "kpps", "1")),
        ({"rates": ["2kpps", "2000pps"]}, "search.rates[1]", ("2", "kpps", "rates[0]")),
        ({"rates": ["2%"]}, "search.rates[0]", ("2%",)),
        ({"minimum": "3Mpps"}, "search.minimum", ("3", "Mpps", "100")),
    ],
)
def test_loads_that_make_no_sense_are_told(
    settings: dict[str, object], where: str, facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(InputError) as caught:
        _settings(**settings).begin(frames_of_64_bytes())
    assert caught.value.where == where
    assert caught.value == says(*facts)
    assert caught.value.remedy


def test_shares_and_rates_at_once_are_refused(says: Says) -> None:
    with pytest.raises(ValidationError) as caught:
        _settings(shares=["5%"], rates=["2kpps"])
    (details,) = caught.value.errors()
    assert details["msg"] == says()
    assert details["ctx"] == {
        "problem": says(),
        "remedy": says("rates"),
        "field": ("rates",),
    }


@pytest.mark.parametrize(
    "settings",
    [
        {"shares": []},
        {"shares": ["0%"]},
        {"shares": ["101%"]},
        {"rates": []},
        {"repeat": 0},
        {"retries": -1},
        {"duration": "0.9ms"},
        {"granularity": "1%"},
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        _settings(**settings)
