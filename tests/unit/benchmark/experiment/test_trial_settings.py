import pytest

from plimsoll.benchmark.experiment.trial_settings import TrialSettings, check_trial_duration
from plimsoll.errors import InputError
from plimsoll.traffic.plan import StreamPlan
from tests.worded.says import Says


def test_a_long_trial_is_sampled_once_a_second() -> None:
    plan = TrialSettings().plan((), duration_s=10800, load_pps=0, mark=7, queue_frames=1024)
    assert plan.interval_s == 1.0
    assert (plan.duration_s, plan.mark, plan.drain_s) == (10800, 7, 2.0)


def test_a_short_trial_is_watched_more_closely() -> None:
    assert (
        TrialSettings().plan((), duration_s=5, load_pps=0, mark=1, queue_frames=1024).interval_s
        == 0.5
    )
    assert (
        TrialSettings().plan((), duration_s=0.5, load_pps=0, mark=1, queue_frames=1024).interval_s
        == 0.1
    )


def test_times_reach_the_engine_in_its_units() -> None:
    settings = TrialSettings.model_validate({"catch_up": "2ms", "stall": "50us"})
    plan = settings.plan((), duration_s=5, load_pps=0, mark=1, queue_frames=1024)
    assert plan.catch_up_us == 2000
    assert round(plan.stall_us, 6) == 50


def test_the_catch_up_burst_is_a_quarter_of_the_queue_at_most() -> None:
    streams = (StreamPlan(0, "load/0-1", "load", 0, 1, (bytes(60),), 4e6),)
    settings = TrialSettings.model_validate({"catch_up": "1ms"})
    # 256 frames at 4 Mpps; 4000 frames are below a quarter of 16384, so all of the 1 ms.
    assert settings.plan(
        streams, 5, load_pps=0, mark=1, queue_frames=1024
    ).catch_up_us == pytest.approx(64)
    assert settings.plan(
        streams, 5, load_pps=0, mark=1, queue_frames=16384
    ).catch_up_us == pytest.approx(1000)
    # Never below what the engine can keep to.
    assert settings.plan(
        streams, 5, load_pps=0, mark=1, queue_frames=32
    ).catch_up_us == pytest.approx(10)


@pytest.mark.parametrize("duration_s", [0.001, 60, 604_800])
def test_a_trial_may_last_from_a_millisecond_to_a_week(duration_s: float) -> None:
    assert check_trial_duration(duration_s, "--duration") == duration_s


@pytest.mark.parametrize(
    ("duration_s", "message"),
    [
        (0.0009, r"0\.0009 s"),
        (604_801, "604801 s"),
        (float("inf"), "inf s"),
        (float("nan"), "nan s"),
    ],
)
def test_no_trial_lasts_shorter_or_longer(duration_s: float, message: str, says: Says) -> None:
    with pytest.raises(InputError, match=message) as caught:
        check_trial_duration(duration_s, "--duration")
    assert caught.value.where == "--duration"
    assert caught.value == says("1ms", "7d")
