"""The rival bisection, followed by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks.search.trafficgen_bisection import TrafficgenBisection
from plimsoll.search.strategy.ask import ONLY_GOAL, Ask, Finished, JudgedVerdict, Told
from tests.unit.record.trials.evidence import no_loss


def _asked(verdict: Callable[[Ask], JudgedVerdict], granularity: float) -> list[Ask | Finished]:
    search = TrafficgenBisection(1.0, 100.0, granularity=granularity)
    asked: list[Ask | Finished] = [search.ask()]
    while isinstance(last := asked[-1], Ask):
        search.tell(Told({ONLY_GOAL: verdict(last)}, no_loss(), {}))
        asked.append(search.ask())
    return asked


def test_the_halfway_load_is_validated_without_a_search_trial() -> None:
    """Capacity 60, granularity 10 %: 100, 50, 75, 62.5, 56.25; then half-way to 62.5."""
    asked = _asked(lambda each: "pass" if each.load_pps <= 60 else "fail", 0.1)
    loads = [(each.phase, each.load_pps) for each in asked if isinstance(each, Ask)]
    assert loads == [
        ("search", 100),
        ("search", 50),
        ("search", 75),
        ("search", 62.5),
        ("search", 56.25),
        ("validation", 59.375),
    ]
    assert isinstance(asked[-1], Finished)
    assert asked[-1].first.load_line_pps == 59.375


def test_a_failed_validation_goes_down_by_the_granularity_to_a_search_trial() -> None:
    """Hours carry 55: from 59.375 to 53.4375, and half-way back up."""

    def verdict(asked: Ask) -> JudgedVerdict:
        capacity = 55 if asked.phase == "validation" else 60
        return "pass" if asked.load_pps <= capacity else "fail"

    asked = [each for each in _asked(verdict, 0.1) if isinstance(each, Ask)]
    assert [(each.phase, each.load_pps) for each in asked[5:8]] == [
        ("validation", 59.375),
        ("search", 53.4375),
        ("validation", 56.40625),
    ]
    assert asked[-1].load_pps <= 55


def test_no_trial_ends_early_and_an_invalid_one_is_tried_once_more() -> None:
    asked = [each for each in _asked(lambda _: "invalid", 0.5) if isinstance(each, Ask)]
    assert not any(each.early_abort for each in asked)
    assert [(each.load_pps, each.attempt) for each in asked[:4]] == [
        (100, 1),
        (100, 2),
        (50, 1),
        (50, 2),
    ]


def test_it_takes_nothing_more_when_it_has_finished() -> None:
    search = TrafficgenBisection(100.0, 100.0)
    search.tell(Told({ONLY_GOAL: "fail"}, no_loss(), {}))
    assert isinstance(search.ask(), Finished)
    with pytest.raises(RuntimeError):
        search.tell(Told({ONLY_GOAL: "pass"}, no_loss(), {}))
