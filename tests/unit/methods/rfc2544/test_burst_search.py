"""The search for the longest burst: what it finds, when it ends, and what it may claim."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.methods.rfc2544.back_to_back import BurstSearch, BurstSearchPlan
from tests.worded.says import Says

PLANS = st.builds(
    BurstSearchPlan,
    limit_frames=st.integers(1, 10**8),
    granularity=st.floats(1e-4, 0.5),
    step_frames=st.integers(1, 10_000),
    verifications=st.integers(0, 3),
)


def drive(search: BurstSearch, holds: int) -> list[int]:
    """Against a DUT that loses nothing of bursts of up to `holds` frames."""
    requests = []
    while (frames := search.next_frames) is not None:
        requests.append(frames)
        search.tell(frames <= holds)
    return requests


@given(PLANS, st.integers(0, 2 * 10**8))
def test_it_ends_with_the_longest_burst_known_to_its_width(
    plan: BurstSearchPlan, holds: int
) -> None:
    search = BurstSearch(plan)
    requests = drive(search, holds)
    assert all(1 <= frames <= plan.limit_frames for frames in requests)
    # Halving 10^8 frames 27 times leaves one; a loss is looked at up to 4 times.
    assert len(requests) <= 4 * 28
    if holds >= plan.limit_frames:
        assert (search.passed, search.at_limit, search.step_frames) == (
            plan.limit_frames,
            True,
            None,
        )
        return
    assert not search.at_limit
    assert search.barred is not None
    assert search.passed <= holds < search.barred
    assert search.barred - search.passed <= max(
        1, plan.step_frames, plan.granularity * search.barred
    )


def test_a_burst_of_ten_is_found_by_halving() -> None:
    search = BurstSearch(BurstSearchPlan(limit_frames=64, granularity=0.01, step_frames=1))
    assert drive(search, 10) == [64, 32, 16, 8, 12, 10, 11]
    assert (search.passed, search.barred) == (10, 11)


def test_a_loss_that_does_not_repeat_does_not_count() -> None:
    plan = BurstSearchPlan(limit_frames=100, granularity=0.01, step_frames=1, verifications=1)
    search = BurstSearch(plan)
    search.tell(False)
    assert search.next_frames == 100
    search.tell(True)
    assert (search.next_frames, search.passed, search.at_limit) == (None, 100, True)


def test_a_burst_that_the_tester_cannot_send_bars_and_leaves_the_answer_open() -> None:
    search = BurstSearch(BurstSearchPlan(limit_frames=8, granularity=0.01, step_frames=1))
    for lossless in (None, True, True, True):
        search.tell(lossless)
    assert (search.passed, search.next_frames, search.at_limit) == (7, None, True)


def test_nothing_is_told_to_a_search_that_has_ended(says: Says) -> None:
    search = BurstSearch(BurstSearchPlan(limit_frames=1, granularity=0.01, step_frames=1))
    search.tell(True)
    with pytest.raises(RuntimeError) as caught:
        search.tell(True)
    assert caught.value == says()
