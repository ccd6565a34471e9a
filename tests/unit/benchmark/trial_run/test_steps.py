"""Steps: what is run again, how often, and what is not."""

from pathlib import Path

import pytest

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.session.session import Session
from plimsoll.benchmark.testbed import testbed as beds
from plimsoll.benchmark.trial_run.steps import TRIES, Steps
from plimsoll.benchmark.trial_run.trial_runner import TrialRequest
from plimsoll.errors import InputError
from plimsoll.methods.rfc2544.run import run_rfc2544
from plimsoll.methods.rfc2544.settings import Rfc2544Settings
from plimsoll.record.recorder import recording
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.trial.judging import tester
from plimsoll.trial.outcome.finding import Finding
from tests.unit.benchmark.simulated_tests import Seen, experiment, run_directory
from tests.worded.says import Says


def request(step: str | None, load_pps: float = 1e5) -> TrialRequest:
    plan = experiment()
    streams = compile_profile(plan.profile, load_pps, ((0, 1), (1, 0)))
    return TrialRequest("frame-loss", load_pps, 0.1, streams, early_abort=False, step=step)


def run_steps(root: Path, plan: Experiment, *requests: TrialRequest) -> list[TrialRecord]:
    """Each in turn by `valid`, in a session of its own."""
    run = run_directory(root, plan)
    found = []
    for each in requests:
        with (
            recording(run) as recorder,
            beds.testbed(beds.TestbedConfig.of(plan), None, print) as bed,
        ):
            steps = Steps(Session(plan, recorder, Seen(), None), bed)
            found.append(steps.valid(plan, each))
    return found


def test_a_valid_step_is_run_once_however_many_sessions_ask(tmp_path: Path) -> None:
    first, again = run_steps(tmp_path, experiment(), request("a"), request("a"))
    assert first == again


def test_an_invalid_step_is_tried_again_a_bounded_number_of_times(tmp_path: Path) -> None:
    plan = experiment().model_copy(update={"tester": Spoiled()})
    first, again = run_steps(tmp_path, plan, request("a"), request("a"))
    assert (first.verdict, first.attempt) == ("invalid", TRIES)
    assert first == again


def test_a_step_that_was_another_question_is_refused(tmp_path: Path, says: Says) -> None:
    with pytest.raises(InputError) as error:
        run_steps(tmp_path, experiment(), request("a"), request("a", load_pps=2e5))
    assert error.value == says("100000")
    assert error.value.where == "journal"


def test_a_step_has_a_name(tmp_path: Path, says: Says) -> None:
    with pytest.raises(ValueError) as caught:
        run_steps(tmp_path, experiment(), request(None))
    assert caught.value == says()


class Spoiled(tester.TesterLimits):
    """Finds every trial spoiled by the tester."""

    def findings(self, outcome: object) -> list[object]:  # type: ignore[override]
        return [Finding("stall", "CPU 0", 1.0, 0.0, "ns", "invalid", "the tester stalled")]


def test_a_tester_that_is_never_fit_is_not_tried_for_ever(tmp_path: Path, says: Says) -> None:
    plan = experiment().model_copy(update={"tester": Spoiled()})
    settings = Rfc2544Settings.quickly().model_copy(
        update={"sizes": (64,), "tests": ("frame-loss", "back-to-back")}
    )
    seen = Seen()
    result = run_rfc2544(plan, settings, run_directory(tmp_path, plan), seen)
    (losses,) = result.parts.frame_loss or ()
    assert [point.lost for point in losses.points] == [None] * 3
    assert not losses.complete
    assert all(point.reason == "the tester stalled" for point in losses.points)
    (bursts,) = result.parts.back_to_back or ()
    assert (bursts.values, bursts.frames) == ((), None)
    assert bursts.reason is not None
    assert bursts.reason == says("tester")
    # Three rates and, as it is still hopeless, one burst, four times each.
    assert len([trial for trial in seen.trials if trial.step]) == 4 * TRIES
