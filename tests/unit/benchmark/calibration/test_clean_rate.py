"""The search for the tester's clean rate, on testers whose rate is known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.benchmark.calibration.tester_calibration import MIN_PPS, find_clean_rate
from tests.worded.says import Says

MAX_PPS = 1e9


class KnownTester:
    """Clean up to `cap_pps`; the trials of these numbers (from 1) are spoiled at any rate."""

    def __init__(self, cap_pps: float, spoiled: frozenset[int] = frozenset()) -> None:
        self.cap_pps = cap_pps
        self.spoiled = spoiled
        self.tried: list[float] = []

    def __call__(self, pps: float) -> str | None:
        self.tried.append(pps)
        if len(self.tried) in self.spoiled:
            return "the CPU was taken away"
        return None if pps <= self.cap_pps else f"{pps:.0f} is too much"


@given(st.floats(MIN_PPS * 2, MAX_PPS / 2))
def test_the_rate_is_found_to_5_percent_from_below(cap_pps: float) -> None:
    found = find_clean_rate(KnownTester(cap_pps), most_pps=MAX_PPS)
    assert found is not None
    assert cap_pps * 0.95 <= found.pps <= cap_pps
    assert (found.clean, found.trials) == (3, 3)
    assert found.fault_above is not None


def test_it_doubles_and_then_halves_the_interval() -> None:
    tester = KnownTester(1_000_000)
    find_clean_rate(tester, most_pps=MAX_PPS)
    firsts = list(dict.fromkeys(tester.tried))
    assert firsts[:5] == [100_000, 200_000, 400_000, 800_000, 1_600_000]
    assert firsts[5] == pytest.approx((800_000 * 1_600_000) ** 0.5)
    # 2 to the power of 1/16 is below 1.05: four steps; what fails is tried three times.
    assert len(firsts) == 9
    assert tester.tried.count(1_600_000) == 3


def test_a_rate_is_confirmed_three_times() -> None:
    tester = KnownTester(1_000_000)
    found = find_clean_rate(tester, most_pps=MAX_PPS)
    assert found is not None
    assert tester.tried[-3:] == [found.pps] * 3


def test_a_spoiled_trial_is_not_taken_for_the_testers_limit() -> None:
    """Two thefts in a row at 200 kpps, and one while confirming."""
    calm = KnownTester(1_000_000)
    undisturbed = find_clean_rate(calm, most_pps=MAX_PPS)
    assert undisturbed is not None
    confirming = len(calm.tried) + 2 - 1
    tester = KnownTester(1_000_000, frozenset({2, 3, confirming}))
    found = find_clean_rate(tester, most_pps=MAX_PPS)
    assert found is not None
    assert found.pps == undisturbed.pps
    assert (found.clean, found.trials) == (3, 4)
    assert found.fault_above == undisturbed.fault_above


def test_a_rate_that_is_not_confirmed_is_lowered_by_5_percent(says: Says) -> None:
    calm = KnownTester(1_000_000)
    undisturbed = find_clean_rate(calm, most_pps=MAX_PPS)
    assert undisturbed is not None
    first = len(calm.tried) - 2
    # Clean twice, and then six times not.
    tester = KnownTester(1_000_000, frozenset(range(first + 2, first + 8)))
    found = find_clean_rate(tester, most_pps=MAX_PPS)
    assert found is not None
    assert found.pps == pytest.approx(undisturbed.pps * 0.95)
    assert found.fault_above == says()


def test_the_search_goes_down_where_its_start_is_too_much() -> None:
    found = find_clean_rate(KnownTester(9_000), most_pps=MAX_PPS)
    assert found is not None
    assert 9_000 * 0.95 <= found.pps <= 9_000


def test_it_ends_at_the_most_that_is_requested() -> None:
    tester = KnownTester(1e9)
    found = find_clean_rate(tester, most_pps=14_880_952)
    assert found is not None
    assert (found.pps, found.fault_above) == (14_880_952, None)
    assert max(tester.tried) == 14_880_952


def test_a_line_slower_than_the_start_is_never_exceeded() -> None:
    tester = KnownTester(1e9)
    found = find_clean_rate(tester, most_pps=14_881)
    assert found is not None
    assert set(tester.tried) == {14_881}


def test_a_tester_that_carries_nothing_has_no_clean_rate() -> None:
    tester = KnownTester(MIN_PPS / 2)
    assert find_clean_rate(tester, most_pps=MAX_PPS) is None
    assert min(tester.tried) >= MIN_PPS
