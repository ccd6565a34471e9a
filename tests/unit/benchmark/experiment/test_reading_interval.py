"""Criteria on hosts that would be judged by one reading or none."""

from typing import Any

import pytest

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.reading_interval import check_readings, check_search_readings
from plimsoll.errors import InputError
from plimsoll.methods.matrix.document import load_matrix
from tests.unit.methods.matrix.matrix_files import write_matrix
from tests.worded.says import Says

STEAL = {"kind": "steal"}
BINARY = {"strategy": "binary", "minimum": "1kpps", "maximum": "2kpps"}


def experiment(interval: str = "1s", **changes: Any) -> Experiment:
    """Whose criteria are on hosts, on a lab that has one."""
    return Experiment.model_validate(
        {
            "name": "checked",
            "lab": {"kind": "testpmd-memif", "cpu": 1},
            "profile": {"streams": [{"name": "load", "role": "load"}]},
            "criteria": [{"kind": "loss-ratio"}, STEAL, {"kind": "throttled"}],
            "observe": {"interval": interval},
            "search": BINARY,
            **changes,
        }
    )


def refused(plan: Experiment) -> InputError:
    with pytest.raises(InputError) as caught:
        check_search_readings(plan)
    assert caught.value.where == "observe.interval"
    return caught.value


def test_an_interval_as_long_as_the_shortest_trial_is_refused(says: Says) -> None:
    error = refused(experiment(search={**BINARY, "duration": "1s"}))
    assert error == says("1s", "search.duration", "500ms", "2s")
    check_search_readings(experiment("500ms", search={**BINARY, "duration": "1s"}))
    check_search_readings(experiment(search={**BINARY, "duration": "2s"}))


@pytest.mark.parametrize(
    ("interval", "search", "field"),
    [
        ("3s", {}, "search.duration is 5s"),
        ("1s", {"sniff": "1500ms"}, "search.sniff is 1.5s"),
        ("2m", {"one_shot": True}, "search.validation.duration is 1m00s"),
        ("1s", {"validation": {"duration": "1s"}}, "search.validation.duration is 1s"),
        # A load-line search watches for a tenth of its validation, or shorter.
        ("1s", {"strategy": "load-line", "validation": {"duration": "10s"}}, "search.watch is 1s"),
        ("4s", {"strategy": "load-line", "watch": "7s", "duration": "9s"}, "search.watch is 6s"),
        ("31s", {"strategy": "checkpoints"}, "search.duration is 1m00s"),
        ("1s", {"strategy": "mlrsearch"}, "search.goals[0].final_trial_duration is 1s"),
        (
            "1s",
            {
                "strategy": "mlrsearch",
                "goals": [
                    {"name": "a", "final_trial_duration": "9s"},
                    {"name": "b", "final_trial_duration": "9s", "initial_trial_duration": "1s"},
                ],
            },
            "search.goals[1].initial_trial_duration is 1s",
        ),
    ],
)
def test_the_shortest_trial_that_is_judged_counts(
    interval: str, search: dict[str, Any], field: str
) -> None:
    assert field in refused(experiment(interval, search={**BINARY, **search})).message


def test_criteria_of_any_goal_count(says: Says) -> None:
    goals = [
        {"name": "a", "criteria": [{"kind": "loss-ratio"}]},
        {"name": "b", "criteria": [STEAL]},
    ]
    search = {**BINARY, "strategy": "load-line", "goals": goals}
    plan = experiment("2s", criteria=[{"kind": "loss-ratio"}], search=search)
    assert refused(plan).message == says("2s", "search.duration")


def test_the_windows_of_a_validation_count() -> None:
    search = {**BINARY, "duration": "1m", "validation": {"duration": "20s"}}
    trial = {"window": "10s"}
    assert "trial.window is 10s" in refused(experiment("6s", search=search, trial=trial)).message
    # One window is the validation itself.
    alone = {**search, "validation": {"duration": "19s"}}
    check_search_readings(experiment("6s", search=alone, trial=trial))


def test_without_criteria_on_hosts_they_may_be_read_as_seldom_as_anybody_likes() -> None:
    criteria = [{"kind": "loss-ratio"}]
    check_search_readings(experiment("1h", criteria=criteria))
    check_readings(experiment("1h", criteria=criteria), {"--duration": 1.0})


def test_a_trial_that_no_interval_suits_has_to_be_longer(says: Says) -> None:
    """Hosts are read every 100 ms at most."""
    with pytest.raises(InputError) as caught:
        check_readings(experiment("100ms"), {"--duration": 0.15})
    assert caught.value == says("100ms", "--duration", "150ms", "200ms")
    check_readings(experiment("100ms"), {"--duration": 0.2})


def test_each_combination_of_a_matrix_is_looked_at(tmp_path: Any, says: Says) -> None:
    path = write_matrix(
        tmp_path,
        {"sets": [{"search.duration": ["5s", "1s"]}]},
        lab={"kind": "loopback"},
        generator={"cpus": [0]},
        criteria=[STEAL],
        search={**BINARY, "validation": {"duration": "5s"}},
    )
    with pytest.raises(InputError) as caught:
        load_matrix(path)
    assert caught.value == says("2", "search.duration", "1s", "observe.interval")
    # The file does not say how often, so its begin is the nearest place.
    assert caught.value.where == f"{path}:1"
