"""Teaching around the trials of an experiment."""

from typing import Any

import pytest
from pydantic import ValidationError

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.trial_settings import TrialSettings
from plimsoll.benchmark.trial_run.pre_trial import background_streams, settings_of, teaching_trial
from plimsoll.record.trials.trial_parts import TrialPhase
from plimsoll.traffic.streams.compile import compile_profile
from tests.worded.says import Says

THROUGH = ((0, 1), (1, 0))
LOAD: dict[str, Any] = {
    "name": "load",
    "role": "load",
    "flows": 500,
    "stream_types": ["measurement", "teaching_warmup", "teaching_measurement"],
}


def _experiment(load: dict[str, Any] = LOAD, **trial: Any) -> Experiment:
    return Experiment.model_validate(
        {
            "name": "taught",
            "profile": {"streams": [load]},
            "trial": trial,
            "search": {"strategy": "binary", "minimum": "1kpps", "maximum": "1Mpps"},
        }
    )


def test_a_trial_is_preceded_by_one_frame_for_each_flow() -> None:
    taught = teaching_trial(_experiment(), THROUGH, "search")
    assert taught is not None
    assert (taught.duration_s, taught.rate_pps) == (0.5, 1000)
    assert [plan.frame_count for plan in taught.streams] == [500, 500]


@pytest.mark.parametrize(
    ("phase", "before", "background"),
    [
        ("validation", True, True),
        ("warmup", True, True),
        ("burst", True, False),
        ("calibration", False, False),
        ("teaching", False, False),
    ],
)
def test_not_every_phase_is_taught_for(phase: TrialPhase, before: bool, background: bool) -> None:
    experiment = _experiment()
    streams = compile_profile(experiment.profile, 1e5, THROUGH)
    assert (teaching_trial(experiment, THROUGH, phase) is not None) == before
    assert bool(background_streams(experiment, streams, THROUGH, phase)) == background


def test_teaching_can_be_left_out() -> None:
    experiment = _experiment(teaching={"warmup": None, "measurement": None})
    streams = compile_profile(experiment.profile, 1e5, THROUGH)
    assert teaching_trial(experiment, THROUGH, "search") is None
    assert background_streams(experiment, streams, THROUGH, "search") == ()


def test_no_stream_no_teaching() -> None:
    without_teaching = _experiment(LOAD | {"stream_types": ["measurement"]})
    assert teaching_trial(without_teaching, THROUGH, "search") is None


def test_a_teaching_frame_is_late_rather_than_left_out() -> None:
    settings = TrialSettings(catch_up=0.001)
    assert settings_of(settings, "teaching").catch_up == 1
    assert settings_of(settings, "search") is settings


def test_an_experiment_with_a_stream_that_cannot_be_taught_is_refused(says: Says) -> None:
    """With the field that says how, though it is left out, and with a remedy."""
    group = LOAD | {"dst_mac": "ff:ff:ff:ff:ff:ff"}
    with pytest.raises(ValidationError) as caught:
        _experiment(group)
    (mistake,) = caught.value.errors()
    assert mistake["loc"] == ("trial",)
    assert mistake["ctx"]["field"] == ("teaching", "warmup", "frames")
    assert mistake["msg"] == says("ff:ff:ff:ff:ff:ff")
    assert mistake["ctx"]["remedy"] == says("teaching")
