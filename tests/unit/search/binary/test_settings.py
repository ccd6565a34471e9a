"""The settings of a binary search, and their loads in pps."""

from typing import Any

import pytest
from pydantic import ValidationError

from plimsoll.errors import InputError
from plimsoll.search.binary.bounds import BinaryPlan
from plimsoll.search.binary.settings import BinarySettings
from plimsoll.search.strategy.ask import Ask
from plimsoll.search.strategy.question import InvalidAction, TrialPolicy
from tests.unit.search.rates import frames_of_64_bytes
from tests.worded.says import Says

BOUNDS: dict[str, Any] = {"minimum": "10kpps", "maximum": "2Mpps"}
TEN_GIGABIT = frames_of_64_bytes(10e9)


def _settings(**given: object) -> BinarySettings:
    return BinarySettings.model_validate(BOUNDS | given)


def _mistake(**given: object) -> str:
    """The settings are refused; in what words."""
    with pytest.raises(ValidationError) as caught:
        _settings(**given)
    (details,) = caught.value.errors()
    return f"{details['msg']}; {details['ctx']['remedy']}"


def test_defaults() -> None:
    actions: dict[str, InvalidAction] = {
        "offered-rate": "retry",
        "runtime": "retry",
        "negative-loss": "retry",
    }
    assert _settings().plan(frames_of_64_bytes()) == BinaryPlan(
        minimum_pps=10_000,
        maximum_pps=2_000_000,
        start_pps=2_000_000,
        granularity=0.01,
        rise=None,
        sniff=None,
        search=TrialPolicy("search", 5, 3, 1, actions),
        validation=TrialPolicy("validation", 60, 3, 1, actions, is_validation=True),
    )


def test_all_as_written() -> None:
    plan = _settings(
        minimum="1%",
        maximum="100%",
        start="6.72Gbps",
        rise=2,
        granularity="0.5%",
        sniff="2s",
        duration="30s",
        repeat=3,
        retries=1,
        on_rate_failure="fail",
        on_runtime_failure="quit",
        validation={"duration": "3h", "retries": 0, "repeat": 2},
    ).plan(TEN_GIGABIT)
    # 64 bytes and 20 of preamble and gap are 672 bits.
    assert plan.start_pps == pytest.approx(10_000_000)
    assert plan.minimum_pps == pytest.approx(1e8 / 672)
    assert (plan.granularity, plan.rise) == (0.005, 2)
    assert plan.sniff == TrialPolicy("sniff", 2, retries=0)
    search, validation = plan.search, plan.validation
    assert (search.duration_s, search.retries, search.repeat) == (30, 1, 3)
    assert (validation.duration_s, validation.retries, validation.repeat) == (10_800, 0, 2)
    expected = {"offered-rate": "fail", "runtime": "quit", "negative-loss": "retry"}
    assert search.actions == validation.actions == expected


def test_a_rise_begins_at_the_minimum() -> None:
    assert _settings(rise=1.5).plan(frames_of_64_bytes()).start_pps == 10_000


def test_every_load_is_named() -> None:
    assert list(_settings().loads) == ["minimum", "maximum"]
    assert list(_settings(start="1Mpps").loads) == ["minimum", "maximum", "start"]


def test_a_search_begins_at_its_start() -> None:
    search = _settings(start="1Mpps", sniff="1s").begin(frames_of_64_bytes())
    assert search.ask() == Ask("sniff", 1_000_000, 1, comes_again=True)


def test_one_shot_begins_with_its_validation() -> None:
    search = _settings(start="1Mpps", one_shot=True).begin(frames_of_64_bytes())
    assert search.ask() == Ask("validation", 1_000_000, 60)


@pytest.mark.parametrize(("field", "value"), [("sniff", "1s"), ("rise", 2)])
def test_one_shot_with_what_belongs_to_a_search_is_refused(
    field: str, value: object, says: Says
) -> None:
    said = _mistake(one_shot=True, **{field: value})
    assert said == says("one_shot", str(field))


def test_settings_survive_being_written_and_read() -> None:
    given = _settings(start="60%", granularity="5%", sniff="1s", validation={"repeat": 2})
    assert BinarySettings.model_validate(given.model_dump(mode="json")) == given


def test_another_length_of_the_validation_leaves_the_rest() -> None:
    given = _settings(validation={"duration": "60s", "retries": 1, "repeat": 2})
    longer = given.validated_for(10_800)
    assert longer == _settings(validation={"duration": "3h", "retries": 1, "repeat": 2})


@pytest.mark.parametrize(
    ("settings", "where", "facts"),
    [
        ({"minimum": "3Mpps"}, "search.minimum", ("3", "Mpps", "2")),
        ({"start": "3Mpps"}, "search.start", ("3", "Mpps", "10", "2")),
        ({"start": "1kpps"}, "search.start", ("1", "kpps", "10", "2")),
        ({"maximum": "80%"}, "search.maximum", ("80%",)),
        ({"minimum": "0.5x"}, "search.minimum", ("search.minimum", "0.5x")),
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


@pytest.mark.parametrize("duration", ["1ms", "7d"])
def test_a_trial_lasts_from_a_millisecond_to_a_week(duration: str) -> None:
    settings = _settings(duration=duration, sniff=duration, validation={"duration": duration})
    assert settings.duration == settings.sniff == settings.validation.duration


@pytest.mark.parametrize(
    "settings",
    [
        {"granularity": 0},
        {"retries": -1},
        {"repeat": 0},
        {"rise": 1},
        {"strategy": "linear"},
        {"on_rate_failure": "ignore"},
        {"sniff": "0.9ms"},
        {"duration": "0.9ms"},
        {"duration": "7d1s"},
        {"validation": {"duration": "0.9ms"}},
        {"validation": {"duration": "7d1s"}},
        {"validation": {"repeat": 0}},
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        _settings(**settings)
