"""Phases so short that the buffer bridges them, up to a load above what they leave."""

from __future__ import annotations

import pytest

from plimsoll.search.load_line.knowledge import Knowledge
from plimsoll.search.load_line.plan import GoalPlan, LoadLinePlan
from plimsoll.search.load_line.slow_phases.overlap import bridged_phases, stalls_outlast
from plimsoll.search.load_line.slow_phases.slow_phase_limit import slow_phase_limit
from plimsoll.search.load_line.tried import Tried
from tests.unit.search.load_line.trials import tried

# 800 kpps of 1 Mpps are left for 100 ms now and then; a full queue then waits for 5.12 ms.
CAPACITY, LEFT, BUFFER = 1e6, 800_000.0, 4096
FULL_NS = round(BUFFER / LEFT * 1e9)
LOAD = 950_000.0


def _lost(load_pps: float, length_s: float) -> int:
    return round((load_pps - LEFT) * length_s - BUFFER)


def _knowledge(*trials: Tried) -> Knowledge:
    """With an overload that shows the queue."""
    plan = LoadLinePlan(
        minimum_pps=10_000,
        maximum_pps=2e6,
        width=0.005,
        duration_s=2.0,
        watch_s=60.0,
        validation_s=10_800.0,
        bursts=True,
        confidence=0.95,
        retries=3,
        validation_retries=3,
        attempts=20,
        goals=(GoalPlan("load-line", 0.0),),
    )
    queue_ns = round(BUFFER / CAPACITY * 1e9) + 10_000
    overload = tried(
        1.1e6,
        2,
        losses=dict.fromkeys(range(10), 20_000),
        intervals=10,
        p50_ns=queue_ns,
        p99_ns=queue_ns,
        phase="search",
    )
    knowledge = Knowledge(plan)
    for each in (overload, *trials):
        knowledge.learn(each)
    return knowledge


def _watch(length_s: float = 0.1, load_pps: float = LOAD) -> Tried:
    """Phases in three of sixty intervals."""
    lossy = (10, 30, 50)
    return tried(
        load_pps,
        60,
        peaks_ns=dict.fromkeys(lossy, FULL_NS),
        losses=dict.fromkeys(lossy, _lost(load_pps, length_s)),
    )


def test_what_was_lost_says_how_long_a_phase_was_and_so_what_the_buffer_bridges() -> None:
    """41 kpps more than are left fill the buffer in 100 ms: 841 kpps, less for longer ones."""
    knowledge = _knowledge(_watch())
    seen = knowledge.slow_phases()
    found = bridged_phases(knowledge, seen, LEFT)
    assert found is not None
    assert 0.1 <= found.longest_s < 0.2
    assert found.load_pps == pytest.approx(LEFT + BUFFER / found.longest_s, rel=1e-3)
    limit = slow_phase_limit(knowledge)
    assert limit is not None
    assert limit.kind == "brief-phase"
    assert 815_000 < limit.load_pps < 841_000


def test_phases_that_lost_nothing_say_it_by_how_long_frames_waited() -> None:
    """At 850 kpps one of 80 ms loses nothing, and makes a frame wait for a 17th of that."""
    lower = tried(850_000, 120, peaks_ns=dict.fromkeys((10, 50, 90), round(0.08 / 17 * 1e9)))
    watch = _watch(length_s=0.08)
    alone, both = _knowledge(watch), _knowledge(watch, lower)
    found = [bridged_phases(each, each.slow_phases(), LEFT) for each in (alone, both)]
    assert all(each is not None for each in found)
    lengths_s = [each.longest_s for each in found if each is not None]
    assert lengths_s == [pytest.approx(0.09, rel=0.15)] * 2


def test_phases_of_seconds_are_not_bridged() -> None:
    """Of a second and more: by less than 4 kpps, and so by no more than the search's width."""
    knowledge = _knowledge(_watch(length_s=1.0))
    assert bridged_phases(knowledge, knowledge.slow_phases(), LEFT) is None
    limit = slow_phase_limit(knowledge)
    assert limit is not None
    assert limit.kind == "slow-phase"


def test_a_phase_that_may_have_gone_on_after_its_trial_has_no_length() -> None:
    whole = tried(
        LOAD, 60, peaks_ns={59: FULL_NS}, losses={59: _lost(LOAD, 0.9)}, phase="validation"
    )
    knowledge = _knowledge(_watch(), whole)
    assert bridged_phases(knowledge, knowledge.slow_phases(), LEFT) is None


def test_a_wait_longer_than_a_full_queue_is_a_stall_as_well() -> None:
    assert not stalls_outlast(_knowledge(_watch()))
    stalled = tried(LOAD, 60, peaks_ns={5: 2 * FULL_NS})
    assert stalls_outlast(_knowledge(_watch(), stalled))


def test_what_leaves_more_than_the_dut_ever_forwarded_is_nothing_to_bridge() -> None:
    knowledge = _knowledge(_watch())
    assert bridged_phases(knowledge, knowledge.slow_phases(), 2 * CAPACITY) is None
