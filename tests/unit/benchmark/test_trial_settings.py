from plimsoll.benchmark.trial_settings import TrialSettings


def test_a_long_trial_is_sampled_once_a_second() -> None:
    plan = TrialSettings().plan((), duration_s=10800, mark=7)
    assert plan.interval_s == 1.0
    assert (plan.duration_s, plan.mark, plan.drain_s) == (10800, 7, 2.0)


def test_a_short_trial_is_watched_more_closely() -> None:
    assert TrialSettings().plan((), duration_s=5, mark=1).interval_s == 0.5
    assert TrialSettings().plan((), duration_s=0.5, mark=1).interval_s == 0.1


def test_times_reach_the_engine_in_its_units() -> None:
    settings = TrialSettings.model_validate({"catch_up": "2ms", "stall": "50us"})
    plan = settings.plan((), duration_s=5, mark=1)
    assert plan.catch_up_us == 2000
    assert round(plan.stall_us, 6) == 50
