"""One load, validated without a search."""

from dataclasses import replace

import pytest

from plimsoll.search.binary.search import OneShot
from plimsoll.search.strategy.ask import Ask, Finished
from plimsoll.search.strategy.question import TrialPolicy
from tests.unit.search.duts import carries, check_resumes, judged, run, told
from tests.worded.says import Says

VALIDATION = TrialPolicy("validation", 60, retries=2, is_validation=True)


def test_a_load_that_holds_is_the_load_line(says: Says) -> None:
    finished, _, asks = run(OneShot(VALIDATION, 50_000), carries(50_000))
    assert asks == [Ask("validation", 50_000, 60)]
    assert finished == Finished.only(50_000, says(), "maximum")


def test_a_load_that_does_not_hold_is_not_followed_by_another(says: Says) -> None:
    finished, _, asks = run(OneShot(VALIDATION, 50_000), carries(49_000))
    assert len(asks) == 1
    assert finished == Finished.only(None, says("50 kpps"))


def test_every_repetition_has_to_pass() -> None:
    dut = judged(lambda asked: "fail" if asked.repetition == 3 else "pass")
    finished, _, asks = run(OneShot(replace(VALIDATION, repeat=3), 50_000), dut)
    assert [each.repetition for each in asks] == [1, 2, 3]
    assert finished.first.load_line_pps is None


def test_a_tester_that_cannot_tell_says_so(says: Says) -> None:
    finished, _, asks = run(OneShot(VALIDATION, 50_000), judged(lambda _: "invalid"))
    assert [each.attempt for each in asks] == [1, 2, 3]
    assert finished == Finished.only(
        None,
        says("3", "50 kpps"),
    )


def test_quitting_tells_the_rule(says: Says) -> None:
    policy = replace(VALIDATION, retries=0, actions={"runtime": "quit"})
    finished, _, _ = run(OneShot(policy, 50_000), lambda asked: told(asked, "invalid", "runtime"))
    assert finished.first.load_line_pps is None
    assert finished.first.reason == says("50", "invalid", "runtime", "quit")


def test_it_resumes_by_replay_from_anywhere() -> None:
    policy = replace(VALIDATION, repeat=2)
    dut = judged(lambda asked: "invalid" if asked.attempt == 1 else "pass")
    finished, trials, asks = run(OneShot(policy, 50_000), dut)
    for after in range(len(trials) + 1):
        resumed = check_resumes(lambda: OneShot(policy, 50_000), trials, asks, after)
        assert resumed.ask() == finished


def test_the_end_takes_no_more_verdicts() -> None:
    search = OneShot(VALIDATION, 50_000)
    _, trials, _ = run(search, carries(50_000))
    with pytest.raises(RuntimeError):
        search.tell(trials[-1].told)
