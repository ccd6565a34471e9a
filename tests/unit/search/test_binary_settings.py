"""The settings of a binary search, and their loads in pps."""

from typing import Any

import pytest
from pydantic import ValidationError

from plimsoll.errors import InputError
from plimsoll.search.binary_settings import BinaryPlan, BinarySettings

BOUNDS: dict[str, Any] = {"minimum": "10kpps", "maximum": "2Mpps"}


def _resolve(line_rate_bps: float | None = None, **settings: object) -> BinaryPlan:
    given = BinarySettings.model_validate(BOUNDS | settings)
    return given.resolve(64, line_rate_bps, profile_pps=None)


def test_defaults() -> None:
    assert _resolve() == BinaryPlan(
        minimum_pps=10_000,
        maximum_pps=2_000_000,
        start_pps=2_000_000,
        granularity=0.01,
        duration_s=5,
        retries=3,
        validation_duration_s=60,
        validation_retries=3,
    )


def test_all_as_written() -> None:
    plan = _resolve(
        line_rate_bps=10e9,
        minimum="1%",
        maximum="100%",
        start="6.72Gbps",
        granularity="0.5%",
        duration="30s",
        retries=1,
        validation={"duration": "3h", "retries": 0},
    )
    # 64 bytes and 20 of preamble and gap are 672 bits.
    assert plan.start_pps == pytest.approx(10_000_000)
    assert plan.minimum_pps == pytest.approx(1e8 / 672)
    assert (plan.granularity, plan.duration_s, plan.validation_duration_s) == (0.005, 30, 10_800)
    assert (plan.retries, plan.validation_retries) == (1, 0)


def test_settings_survive_being_written_and_read() -> None:
    given = BinarySettings.model_validate(BOUNDS | {"start": "60%", "granularity": "5%"})
    assert BinarySettings.model_validate(given.model_dump(mode="json")) == given


@pytest.mark.parametrize(
    ("settings", "where", "problem"),
    [
        ({"minimum": "3Mpps"}, "search.minimum", "is 3 Mpps, above the maximum of 2 Mpps"),
        ({"start": "3Mpps"}, "search.start", "is 3 Mpps, outside 10 kpps to 2 Mpps"),
        ({"start": "1kpps"}, "search.start", "is 1 kpps, outside 10 kpps to 2 Mpps"),
        ({"maximum": "80%"}, "search.maximum", "80% is a share of the line rate"),
        ({"minimum": "0.5x"}, "search.minimum", "multiplies the profile's own rate"),
    ],
)
def test_loads_that_make_no_sense_are_told(
    settings: dict[str, object], where: str, problem: str
) -> None:
    with pytest.raises(InputError) as caught:
        _resolve(**settings)
    assert caught.value.where == where
    assert problem in caught.value.message
    assert caught.value.remedy


@pytest.mark.parametrize("duration", ["1ms", "7d"])
def test_a_trial_lasts_from_a_millisecond_to_a_week(duration: str) -> None:
    given = {"duration": duration, "validation": {"duration": duration}}
    settings = BinarySettings.model_validate(BOUNDS | given)
    assert settings.duration == settings.validation.duration


@pytest.mark.parametrize(
    "settings",
    [
        {"granularity": 0},
        {"retries": -1},
        {"strategy": "linear"},
        {"duration": "0.9ms"},
        {"duration": "7d1s"},
        {"validation": {"duration": "0.9ms"}},
        {"validation": {"duration": "7d1s"}},
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        BinarySettings.model_validate(BOUNDS | settings)
