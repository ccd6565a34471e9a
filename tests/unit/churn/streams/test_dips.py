"""Dips of throughputs drawn by hand."""

import pytest

from plimsoll.churn.streams.dips import (
    DipRule,
    RateOver,
    Reference,
    TimeSpan,
    find_dips,
    match,
    matched_event,
    mean_bps,
    reference_of,
    total_rates,
    within,
)


def seconds(*values: float) -> list[RateOver]:
    """One rate a second, from 0."""
    return [RateOver(float(n), n + 1.0, value) for n, value in enumerate(values)]


STEADY = Reference(100.0, 0.0)


def test_the_reference_is_the_median_and_its_noise() -> None:
    reference = reference_of(seconds(98, 100, 102, 100, 10))
    # Deviations 2, 0, 2, 0, 90: their median is 2, whatever the outlier.
    assert (reference.bps, reference.sigma_bps) == (100, pytest.approx(2.9652))


def test_a_dip_has_its_depth_length_and_area() -> None:
    (dip,) = find_dips(seconds(100, 100, 80, 60, 90, 100), STEADY, DipRule())
    assert (dip.begin_s, dip.end_s) == (2, 5)
    assert dip.depth == pytest.approx(0.4)
    assert dip.lost_bits == pytest.approx(20 + 40 + 10)


def test_what_is_within_the_share_or_the_noise_is_no_dip() -> None:
    assert find_dips(seconds(96, 95, 97), STEADY, DipRule(least_share=0.05)) == ()
    noisy = Reference(100.0, 5.0)
    assert find_dips(seconds(85), noisy, DipRule(sigmas=4.0)) == ()
    assert len(find_dips(seconds(79), noisy, DipRule(sigmas=4.0))) == 1


def test_dips_next_to_each_other_are_one_and_lose_what_lies_between() -> None:
    rates = seconds(80, 100, 80, 100, 100, 80)
    joined = find_dips(rates, STEADY, DipRule(join_s=1.0))
    assert [(dip.begin_s, dip.end_s, dip.lost_bits) for dip in joined] == [
        (0, 3, pytest.approx(40)),
        (5, 6, pytest.approx(20)),
    ]


def test_dips_that_begin_in_churn_match_by_more_than_chance() -> None:
    # Two dips in a hundred seconds, both in the one tenth of the time that was churned.
    dips = find_dips(
        [RateOver(n, n + 1, 50 if n in (42, 46) else 100) for n in range(100)], STEADY, DipRule()
    )
    found = match(dips, [TimeSpan(40, 50)], TimeSpan(0, 100), lag_s=0.001)
    assert (found.dips, found.matched, found.share) == (2, 2, 1.0)
    # A window of 10 s touches a dip of 1 s in about 11 of 100 places.
    assert found.chance == pytest.approx(0.11, abs=0.02)
    # Both at once where the window begins after 37 and before 43: 6 of 100.
    assert found.p == pytest.approx(0.06, abs=0.02)


def test_where_churn_is_always_chance_matches_all() -> None:
    dips = find_dips(seconds(100, 50, 100), STEADY, DipRule())
    found = match(dips, [TimeSpan(0, 3)], TimeSpan(0, 3), lag_s=1)
    assert (found.chance, found.p) == (1, 1)


def test_what_runs_out_at_the_end_comes_in_at_the_beginning() -> None:
    dips = find_dips(seconds(50, *[100] * 9), STEADY, DipRule())
    found = match(dips, [TimeSpan(5, 10)], TimeSpan(0, 10), lag_s=0.001)
    # Shifted all the way round, half of the time is churn, and a dip of a tenth touches it in 6
    # of 10 places.
    assert found.matched == 0
    assert found.chance == pytest.approx(0.6, abs=0.02)


@pytest.mark.parametrize("churn", [[], [TimeSpan(0, 1)]])
def test_without_dips_or_churn_there_is_no_chance(churn: list[TimeSpan]) -> None:
    found = match((), churn, TimeSpan(0, 10), lag_s=1)
    assert (found.chance, found.p, found.share) == (None, None, None)


def test_a_dip_belongs_to_the_phase_it_has_most_in_common_with() -> None:
    (dip,) = find_dips(seconds(*[100] * 4, 50, 50, 50, 100), STEADY, DipRule())
    phases = [TimeSpan(0, 5), TimeSpan(5, 9)]
    assert matched_event(dip, phases, lag_s=0.0) == 1
    assert matched_event(dip, [TimeSpan(0, 3)], lag_s=0.5) is None
    assert matched_event(dip, [TimeSpan(0, 3)], lag_s=2.0) == 0
    assert matched_event(dip, [], lag_s=1.0) is None


def test_streams_are_added_up_where_all_of_them_were() -> None:
    one = [RateOver(0.0, 1.0, 10.0), RateOver(1.0, 2.0, 30.0)]
    # Half a second later, and with half of its bits in each second.
    other = [RateOver(0.5, 1.5, 4.0), RateOver(1.5, 2.5, 8.0)]
    # Both were from 0.5 to 2: one step of a second, half of 10, half of 30, and all of 4.
    assert total_rates([one, other], 1.0) == (RateOver(0.5, 1.5, pytest.approx(24.0)),)


def test_a_gap_within_a_stream_carried_nothing() -> None:
    gap = [RateOver(0.0, 1.0, 10.0), RateOver(2.0, 3.0, 10.0)]
    assert [each.bps for each in total_rates([gap], 1.0)] == [10, 0, 10]


def test_no_streams_have_no_total() -> None:
    assert total_rates([], 1.0) == ()
    assert total_rates([[]], 1.0) == ()
    with pytest.raises(ValueError, match="no rates"):
        mean_bps([])


def test_a_mean_is_weighted_by_time() -> None:
    assert mean_bps([RateOver(0, 1, 10), RateOver(1, 4, 20)]) == pytest.approx(17.5)
    assert within(seconds(1, 2, 3, 4), 1, 3) == seconds(1, 2, 3, 4)[1:3]
