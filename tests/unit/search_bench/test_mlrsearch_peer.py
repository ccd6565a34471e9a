"""No more trials than the library of RFC 9971's authors, and answers within a width of its."""

from __future__ import annotations

import pytest

from benchmarks.search.mlrsearch_peer import GOALS, compared
from benchmarks.search.random_duts import DUT_KINDS, random_dut

# Whose losses depend on the load alone: on these the two come to the same loads.
_STEADY = ("hard limit", "smooth knee", "loss floor 1e-7")


@pytest.mark.parametrize("kind", _STEADY)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_more_trials_than_the_library_needs(kind: str, seed: int) -> None:
    goals = GOALS["csit"]
    ours, theirs = compared(goals, kind, seed)
    assert ours.trials <= theirs.trials
    for mine, peer, each in zip(ours.lower_pps, theirs.lower_pps, goals, strict=True):
        assert mine == pytest.approx(peer, rel=each.goal.width)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [each for each in DUT_KINDS if each not in _STEADY])
def test_nor_in_all_where_luck_has_a_part(kind: str) -> None:
    """One draw of luck is worth ten trials; over sixty DUTs it evens out."""
    pairs = [compared(GOALS["csit-ndr"], kind, seed) for seed in range(60)]
    ours, theirs = (sum(each.trials for each in side) for side in zip(*pairs, strict=True))
    assert ours <= theirs


def test_both_meet_the_same_dut() -> None:
    one, other = (random_dut("jitter 2 %", 3, 2e6) for _ in range(2))
    loads = [1.9e6, 1.0e6, 1.2e6]
    assert [one.lost(load, 1.0) for load in loads] == [other.lost(load, 1.0) for load in loads]
    assert (one.trials, one.elapsed_s) == (3, 3.0)


def test_a_hard_limit_forwards_its_capacity() -> None:
    dut = random_dut("hard limit", 5, 2e6)
    assert dut.lost(0.99 * dut.capacity_pps, 1.0) == 0
    assert dut.lost(2 * dut.capacity_pps, 1.0) == pytest.approx(dut.capacity_pps, rel=1e-5)


def test_a_floor_loses_its_share_at_any_load() -> None:
    dut = random_dut("loss floor 1e-6", 5, 2e6)
    lost = sum(dut.lost(0.5 * dut.capacity_pps, 10.0) for _ in range(200))
    assert lost == pytest.approx(1e-6 * 0.5 * dut.capacity_pps * 2000, rel=0.1)
