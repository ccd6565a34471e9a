"""A falling capacity, from an overloaded trial."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from plimsoll.search.load_line.decline import (
    decline_of,
    declined,
    end_capacity_pps,
    falls_by_steps,
)
from tests.unit.search.load_line.trials import tried


def test_what_tires_exponentially_is_extrapolated_to_its_end() -> None:
    """From 1 Mpps by 15 % with 1200 s, seen for 1800 s: 12 % have gone then, 15 % at last."""
    losses = {at: round(150_000 * -math.expm1(-at / 1200)) for at in range(1, 1800)}
    decline = decline_of(tried(1e6, 1800, losses=losses))
    assert decline.tau_s == pytest.approx(1200, rel=0.02)
    assert decline.left_pps(10_800) == pytest.approx(850_000, rel=0.002)


def test_what_was_tired_to_begin_with_is_followed_from_there() -> None:
    """Of the 15 %, 5 have gone before: from 950 to 850 kpps with 1200 s."""
    losses = {at: round(50_000 - 100_000 * math.expm1(-at / 1200)) for at in range(1800)}
    decline = decline_of(tried(1e6, 1800, losses=losses))
    assert decline.left_pps(10_800) == pytest.approx(850_000, rel=0.002)


def test_what_falls_straight_is_followed_straight() -> None:
    """10 pps less each second."""
    decline = decline_of(tried(1e6, 1800, losses={at: 10 * at for at in range(1, 1800)}))
    assert decline.tau_s is None
    assert decline.left_pps(3600) == pytest.approx(1e6 - 36_000, rel=0.002)


def test_a_straight_line_is_not_followed_for_hours() -> None:
    """1 % in 1350 s: 8 % in three hours if it goes on, and 2 % in twice the time: 4 % between."""
    decline = decline_of(tried(1e6, 1350, losses={at: round(7.4 * at) for at in range(1, 1350)}))
    assert decline.left_pps(10_800) == pytest.approx(0.96e6, rel=0.001)


def test_a_line_that_went_on_for_longer_is_followed_from_there() -> None:
    """At 950 kpps an hour later: 7.5 % in the next half, 10 % in twice as long."""
    decline = decline_of(tried(1e6, 1350, losses={at: 10 * at for at in range(1, 1350)}))
    later = decline.after(950_000, 3600)
    assert later.left_pps(5400) == pytest.approx(925_000, rel=0.001)
    assert later.left_pps(7200) == pytest.approx(900_000, rel=0.001)
    assert decline.after(950_000, 600) == decline


def test_a_decline_begins_late_and_does_not_end() -> None:
    late = dict.fromkeys(range(40, 60), 100)
    assert declined(tried(1e6, 60, losses=late))
    assert not declined(tried(1e6, 60, losses={40: 100, 50: 100}))
    assert not declined(tried(1e6, 60, losses=dict.fromkeys(range(60), 100)))
    assert not declined(tried(1e6, 60))


def test_two_lossy_intervals_at_the_end_of_a_validation_are_none_without_a_queue() -> None:
    """It ends soon after its first loss; that of two stalls leaves no queue standing."""
    two = {58: 100, 59: 20}
    assert not declined(tried(1e6, 60, losses=two), full_queue=4000.0)
    # 4 ms at 1 Mpps.
    assert declined(tried(1e6, 60, losses=two, p99_ns=4_000_000), full_queue=4000.0)


def test_stalls_that_only_single_frames_met_are_no_decline_where_no_full_queue_is_known() -> None:
    peaks_ns = {57: 800_000, 58: 790_000}
    assert not declined(tried(1e6, 60, losses={58: 42, 59: 29}, peaks_ns=peaks_ns))
    standing = tried(1e6, 60, losses={58: 42, 59: 29}, peaks_ns=peaks_ns, p99_ns=780_000)
    assert declined(standing)


def test_losses_that_do_not_end_are_a_decline_where_no_frame_has_a_latency() -> None:
    trial = tried(1e6, 60, losses=dict.fromkeys(range(40, 60), 100))
    unknown = dict.fromkeys(("min_ns", "p50_ns", "p99_ns", "max_ns"))
    evidence = trial.evidence.model_copy(update=unknown)
    assert declined(replace(trial, told=replace(trial.told, evidence=evidence)))


def test_a_queue_that_stands_for_too_short_to_be_seen_in_all_frames_is_seen_by_its_losses() -> None:
    """It is full, at 4 ms, and 30,000 frames are lost, where a stall so long lets 4000 come."""
    full_ns = {58: 4_000_000, 59: 4_010_000}
    assert declined(tried(1e6, 60, losses={58: 900, 59: 30_000}, peaks_ns=full_ns), 4000.0)
    assert not declined(tried(1e6, 60, losses={58: 900, 59: 900}, peaks_ns=full_ns), 4000.0)


def test_a_capacity_that_falls_twice_at_once_falls_by_steps() -> None:
    """By 5 % to begin with, and by 5 % more after ten minutes."""
    losses = {at: 50_000 if at < 600 else 100_000 for at in range(1350)}
    trial = tried(1e6, 1350, losses=losses)
    assert falls_by_steps(trial, 0.005)
    assert end_capacity_pps(trial) == pytest.approx(900_000)


def test_a_capacity_that_falls_little_by_little_does_not() -> None:
    assert not falls_by_steps(tried(1e6, 1350, losses={at: 80 * at for at in range(1350)}), 0.005)
