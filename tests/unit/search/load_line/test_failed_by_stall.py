"""What a validation that a stall failed says of the load below it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll.search.load_line.goal_record import GoalRecord
from plimsoll.search.load_line.knowledge import Knowledge
from plimsoll.search.load_line.plan import GoalPlan, LoadLinePlan
from tests.unit.search.load_line.disturbed import Times, disturbed
from tests.worded.says import Says

GOAL = GoalPlan("load-line", 0.0)
PLAN = LoadLinePlan(
    minimum_pps=1e4,
    maximum_pps=2e6,
    width=0.005,
    duration_s=2.0,
    watch_s=6.0,
    validation_s=60.0,
    bursts=True,
    confidence=0.95,
    retries=3,
    validation_retries=3,
    attempts=20,
    goals=(GOAL,),
)
# 3 ms at 1 Mpps bring 3000 frames, of which 800 found no room.
STALL = (30.5, 3e-3)


@pytest.mark.parametrize(
    ("named", "unnamed", "facts"),
    [
        ({"java": [STALL]}, [], ("30s", "java", "1")),
        ({}, [STALL], ("30s",)),
    ],
)
def test_the_stall_is_named_by_its_cause_if_that_is_known(
    named: dict[str, Times], unnamed: Times, facts: tuple[str, ...], says: Says
) -> None:
    watched = disturbed(1e6, 60, named, unnamed=unnamed, losses={30: 800})
    failed = replace(watched, asked=replace(watched.asked, phase="validation"))
    knowledge = Knowledge(PLAN)
    record = GoalRecord(GOAL, knowledge)
    knowledge.learn(failed)
    record.learn(failed, 1)
    assert record.failure_limit is not None
    assert record.failure_limit.text == says("validation", "1", *facts)
