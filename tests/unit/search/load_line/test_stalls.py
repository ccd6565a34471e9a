"""Stalls and buffers, read from peaks and losses."""

from __future__ import annotations

import pytest

from plimsoll.search.load_line.hypotheses import incidents_of
from plimsoll.search.load_line.stalls.stalls_seen import (
    buffer_frames,
    held_frames,
    overflows,
    small_overflows,
    stalls_of,
    unexplained_losses,
)
from plimsoll.search.load_line.weigh import weigh
from tests.unit.search.load_line.trials import tried


def test_a_lossy_peak_says_what_the_buffer_holds() -> None:
    """3 ms at 1 Mpps bring 3000 frames; 800 are lost, 2200 were held."""
    trial = tried(1e6, 10, peaks_ns={2: 3_000_000, 5: 1_500_000}, losses={2: 800})
    assert buffer_frames(overflows(trial, weigh([], 0.0))) == pytest.approx(2200)
    assert held_frames(stalls_of(trial)) == pytest.approx(1500)


def test_where_several_stalls_may_have_lost_the_smallest_loss_says_it_best() -> None:
    """Two stalls in the first interval lost 1600 together, each no more than 800."""
    trial = tried(
        1e6,
        10,
        peaks_ns={2: 3_000_000, 5: 2_300_000, 7: 2_900_000},
        losses={2: 1600, 5: 100, 7: 1400},
    )
    assert buffer_frames(overflows(trial, weigh([], 0.0))) == pytest.approx(2200)


def test_a_stall_too_short_to_fill_the_queue_explains_no_loss() -> None:
    trial = tried(1e6, 10, peaks_ns={2: 3_000_000, 5: 300_000}, losses={2: 800, 5: 3})
    weighed = weigh(list(incidents_of(trial)), 2200.0)
    assert [stall.at_s for stall in overflows(trial, weighed)] == [2.0]
    assert [loss.at_s for loss in unexplained_losses(trial, weighed)] == [5.0]


def test_a_queue_that_was_merely_full_is_no_stall() -> None:
    """Of 1000 frames, 1000 waited, and 300 more found no room: nothing was away so long."""
    trial = tried(1e6, 10, peaks_ns={2: 1_000_000}, losses={2: 300})
    assert not list(overflows(trial, weigh(list(incidents_of(trial)), 1000.0)))


def test_what_both_directions_lost_at_once_is_halved_where_the_queue_is_known() -> None:
    """3 ms at 1 Mpps bring 3000 frames to each direction; each lost 800, as 2200 wait at most."""
    trial = tried(1e6, 10, peaks_ns={2: 3_000_000}, losses={2: 1600})
    overflowed = list(overflows(trial, weigh(list(incidents_of(trial)), 2190.0)))
    assert buffer_frames(overflowed, 2190.0) == pytest.approx(2200)
    assert buffer_frames(overflowed) == pytest.approx(1400)


def test_what_may_have_met_a_smaller_buffer_counts_though_chance_is_likelier() -> None:
    """The longest peak of ten intervals lost frames: by chance that is one time in ten."""
    others_ns = dict.fromkeys(range(10), 200_000)
    longest = tried(4e5, 10, peaks_ns={**others_ns, 7: 3_000_000}, losses={7: 200})
    weighed = weigh(list(incidents_of(longest)), 4096.0)
    assert len(unexplained_losses(longest, weighed)) == 1
    assert [stall.held for stall in small_overflows(longest, weighed)] == [pytest.approx(1000)]
    any_peak = tried(4e5, 10, peaks_ns=dict.fromkeys(range(10), 3_000_000), losses={7: 200})
    assert not list(small_overflows(any_peak, weigh(list(incidents_of(any_peak)), 4096.0)))


def test_several_stalls_in_each_interval_do_not_empty_the_buffer() -> None:
    """Ten of 3 ms lost 8000 of 30,000 frames: the longest brought 3000, of which 2200 fit."""
    trial = tried(1e6, 10, peaks_ns={2: 3_000_000, 5: 3_000_000}, losses={2: 8000, 5: 8000})
    assert buffer_frames(stalls_of(trial), 2200.0) == pytest.approx(2200)


def test_more_lost_than_the_longest_stall_brought_says_nothing_of_an_unknown_buffer() -> None:
    trial = tried(1e6, 10, peaks_ns={2: 3_000_000}, losses={2: 8000})
    assert buffer_frames(stalls_of(trial)) is None
