"""Every search strategy over dpdk-testpmd: it finds and proves a load, and survives a SIGKILL."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.command import (
    QUICK,
    Workplace,
    assert_keeps_to_schema,
    assert_nothing_is_left,
    finished_trials,
    hugepages,
    journal,
    kill_when,
)
from tests.integration.unspoilt import refuse_repeated, unspoilt

pytestmark = pytest.mark.alone

# What a machine whose CPUs are taken away for half of the time still keeps to.
FORGIVING: list[dict[str, Any]] = [{"kind": "loss-ratio", "at_most": "50%"}]
# What no DUT keeps to, at whatever load.
IMPOSSIBLE: list[dict[str, Any]] = [{"kind": "latency", "quantile": "p50", "at_most": "1ns"}]

LOW = {"minimum": "1kpps", "maximum": "8kpps"}
# More than a loop on one CPU sends or forwards, so that something must be searched for.
WIDE = {"minimum": "1kpps", "maximum": "20Mpps"}


def search_trials(run: Path) -> list[dict[str, Any]]:
    return [each for each in finished_trials(run) if each["phase"] == "search"]


def after(number: int) -> Callable[[Path], bool]:
    """Whether so many trials of a search have finished."""
    return lambda run: len(search_trials(run)) >= number


def find(place: Workplace, *words: object) -> dict[str, Any]:
    """A run to its end, whose result must be what its journal says, and nothing be left."""
    before = hugepages()
    done = unspoilt(place, "run", *words, "--json")
    assert done.returncode == 0, done.stderr
    assert_nothing_is_left(place, before)
    run = place.only_run()
    result: dict[str, Any] = json.loads(done.stdout)
    assert result == json.loads((run / "result.json").read_text())
    assert_keeps_to_schema(result, "result")
    assert (run / "report.html").exists()
    trials = finished_trials(run)
    assert result["trials"]["total"] == len(trials)
    assert result["trials"]["by_phase"] == Counter(trial["phase"] for trial in trials)
    return result


def assert_proved(result: dict[str, Any], goal: dict[str, Any], trials: list[Any]) -> None:
    """The load line of this goal passed its validation, which is in the journal."""
    (proof,) = [trial for trial in trials if trial["number"] == goal["proof"]]
    assert proof["phase"] == "validation"
    assert proof["load_pps"] == goal["load_line"]["intended_pps_per_direction"]
    assert proof["goals"][goal["name"]]["verdict"] == "pass"
    assert proof["ended_by"] == "duration"
    if goal is result["goals"][0]:
        assert result["load_line"] == goal["load_line"]
        assert result["validation"]["verdict"] == "pass"
        assert result["validation"]["trial"] == proof["number"]


def assert_goes_on(place: Workplace, kept: list[dict[str, Any]]) -> dict[str, Any]:
    """The killed run ends as it would have, with the trials that it had."""
    run = place.only_run()
    result = find(place, "--resume", run)
    refuse_repeated(run)
    trials = finished_trials(run)
    assert trials[: len(kept)] == kept
    numbers = [trial["number"] for trial in trials]
    assert numbers == sorted(set(numbers))
    assert [event["trials"] for event in journal(run) if event["kind"] == "run-resumed"] == [
        len(kept)
    ]
    # The tester is measured once; what the DUT learned in a warm-up died with it.
    phases = Counter(trial["phase"] for trial in trials)
    assert phases["calibration"] == 2
    assert phases["warmup"] == 2
    return result


LOAD_LINE = {"strategy": "load-line", "width": "20%", "duration": "500ms", "watch": "500ms"}


@pytest.mark.parametrize(
    "search",
    [
        pytest.param(
            {**WIDE, "strategy": "binary", "granularity": "50%", "duration": "500ms"},
            id="binary",
            marks=pytest.mark.full,
        ),
        pytest.param(
            {
                **WIDE,
                "strategy": "mlrsearch",
                "goals": [{"width": "50%", "final_trial_duration": "500ms", "duration_sum": "1s"}],
                "validation": {"back_off": "50%"},
            },
            id="mlrsearch",
            marks=pytest.mark.full,
        ),
        pytest.param({**LOW, **LOAD_LINE}, id="load-line", marks=pytest.mark.slow),
        # Minutes, in which it gets to know the tester's limits.
        pytest.param({**WIDE, **LOAD_LINE}, id="load-line-wide", marks=pytest.mark.full),
    ],
)
def test_it_finds_and_validates_a_load(place: Workplace, search: dict[str, Any]) -> None:
    validation = {**search.get("validation", {}), "duration": "1s"}
    experiment = place.experiment(
        search={**search, "validation": validation},
        criteria=FORGIVING,
        # A tester that shares its CPU sends what it can, and the search goes on.
        tester={**QUICK["tester"], "rate_tolerance": "90%"},
    )
    result = find(place, experiment, "--runs", place.runs)
    trials = finished_trials(place.only_run())
    assert_proved(result, result["goals"][0], trials)
    assert [goal["name"] for goal in result["goals"]] == ["load-line"]
    assert result["limited_by"] in ("dut", "tester", "maximum")
    assert search_trials(place.only_run())
    loads = [trial["load_pps"] for trial in trials if trial["phase"] in ("search", "validation")]
    assert all(1_000 <= load <= 20_000_000 for load in loads)


@pytest.mark.full
def test_checkpoints_killed_in_the_middle(place: Workplace) -> None:
    search = {
        **LOW,
        "strategy": "checkpoints",
        "rates": ["1kpps", "2kpps", "4kpps", "8kpps"],
        "duration": "500ms",
        "validation": {"duration": "1s"},
    }
    experiment = place.experiment(search=search, criteria=FORGIVING)
    kept = kill_when(place, ["run", experiment], after(2), "the second checkpoint")
    result = assert_goes_on(place, kept)
    assert [each["load_pps"] for each in search_trials(place.only_run())] == [
        *(1000, 2000),
        *(4000, 8000),
    ]
    assert result["load_line"]["intended_pps_per_direction"] == 8000
    assert result["limited_by"] == "maximum"
    assert_proved(result, result["goals"][0], finished_trials(place.only_run()))


@pytest.mark.full
def test_mlrsearch_killed_in_the_middle(place: Workplace) -> None:
    goal = {"final_trial_duration": "500ms", "duration_sum": "4s"}
    search = {**LOW, "strategy": "mlrsearch", "goals": [goal], "validation": {"duration": "1s"}}
    experiment = place.experiment(search=search, criteria=FORGIVING)
    kept = kill_when(place, ["run", experiment], after(2), "the second trial")
    result = assert_goes_on(place, kept)
    # The maximum is a lower bound when, if all that is missing of the 4 s were bad, no more
    # than half of them would be: after four good trials of 0.5 s, and not before.
    assert [each["load_pps"] for each in search_trials(place.only_run())] == [8000] * 4
    (found,) = result["goals"]
    # Without an upper bound the result is what the RFC calls irregular.
    assert found["irregular"]
    assert found["load_line"]["intended_pps_per_direction"] == pytest.approx(
        0.995 * found["conditional_pps"]
    )
    assert_proved(result, found, finished_trials(place.only_run()))


@pytest.mark.full
def test_two_goals_of_one_load_line_search_killed_between_them(place: Workplace) -> None:
    search = {
        **LOW,
        "strategy": "load-line",
        "width": "20%",
        "duration": "500ms",
        "watch": "500ms",
        "validation": {"duration": "1s"},
        "goals": [
            {"name": "carried", "criteria": FORGIVING},
            {"name": "never", "criteria": IMPOSSIBLE},
        ],
    }
    experiment = place.experiment(search=search)
    kept = kill_when(place, ["run", experiment], after(3), "trials for the second goal")
    assert {"carried", "never"} <= {trial["goal"] for trial in kept}
    result = assert_goes_on(place, kept)
    carried, never = result["goals"]
    assert (carried["name"], never["name"]) == ("carried", "never")
    assert carried["load_line"]["intended_pps_per_direction"] == 8000
    assert never["load_line"] is None
    assert never["reason"]
    trials = finished_trials(place.only_run())
    assert_proved(result, carried, trials)
    # What was proved before the kill is not proved again.
    assert [each["phase"] for each in trials if each["goal"] == "carried"] == [
        *("search", "validation")
    ]
    for trial in trials:
        if trial["goal"] is not None:
            assert trial["goals"]["carried"]["verdict"] == "pass"
            assert trial["goals"]["never"] == {"verdict": "fail", "rules": ["latency-p50"]}


@pytest.mark.full
def test_a_multiple_of_the_lowest_latency_is_held_against_one_baseline(place: Workplace) -> None:
    times = 1e6
    bound = {"kind": "latency", "quantile": "p50", "times_lowest": times}
    experiment = place.experiment(
        criteria=[*FORGIVING, bound], trial={**QUICK["trial"], "baseline": "500ms"}
    )
    kept = kill_when(place, ["run", experiment], after(1), "the first search trial")
    result = assert_goes_on(place, kept)
    trials = finished_trials(place.only_run())
    assert_proved(result, result["goals"][0], trials)
    (baseline,) = [trial for trial in trials if trial["phase"] == "baseline"]
    assert baseline["load_pps"] == 1000
    lowest = {each["name"]: each["latency"]["p50_ns"] for each in baseline["streams"]}
    judged = [each for each in trials if each["phase"] in ("search", "validation")]
    assert {each["phase"] for each in judged} == {"search", "validation"}
    for trial in judged:
        (finding,) = [each for each in trial["findings"] if each["rule"] == "latency-p50"]
        assert finding["limit"] == pytest.approx(times * lowest[finding["subject"]])
