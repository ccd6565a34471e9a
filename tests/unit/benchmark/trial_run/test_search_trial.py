"""What a search asks for, as a trial of the experiment's streams."""

import pytest

from plimsoll.benchmark.testbed import testbed as beds
from plimsoll.benchmark.trial_run.search_trial import search_trial
from plimsoll.search.strategy.ask import Ask
from tests.unit.benchmark.simulated_tests import experiment


def test_a_trial_is_requested_with_all_that_the_search_said() -> None:
    plan = experiment()
    question = Ask("search", 250_000.0, 3.0, attempt=2, goal="fast", repetition=3, comes_again=True)
    with beds.testbed(beds.TestbedConfig.of(plan), None, print) as bed:
        request = search_trial(plan, bed, question)
    assert (request.phase, request.load_pps, request.duration_s) == ("search", 250_000.0, 3.0)
    assert (request.attempt, request.goal, request.repetition) == (2, "fast", 3)
    assert request.comes_again
    assert request.early_abort
    rates = {stream.name: stream.rate_pps for stream in request.streams}
    assert rates == {
        "load/0-1": 250_000.0,
        "load/1-0": 250_000.0,
        "probe/0-1": 1000.0,
        "probe/1-0": 1000.0,
    }


@pytest.mark.parametrize("load_pps", [250_000.0, 1e6])
def test_a_burst_is_of_so_many_frames_whatever_the_load(load_pps: float) -> None:
    plan = experiment()
    question = Ask("burst", load_pps, 0.1, burst_frames=500, early_abort=False)
    with beds.testbed(beds.TestbedConfig.of(plan), None, print) as bed:
        request = search_trial(plan, bed, question)
    frames = {stream.name: stream.frame_count for stream in request.streams}
    assert frames == {"load/0-1": 500, "load/1-0": 500}
    # A wire is what empties these ports: they are sent as fast as it takes them.
    assert {stream.rate_pps for stream in request.streams} == {None}
    assert not request.early_abort
