"""The three signs of overload."""

from __future__ import annotations

import pytest

from plimsoll.search.load_line.overload import overload_capacity_pps
from tests.unit.search.load_line.trials import MIN_NS, tried

WIDTH = 0.005


def test_loss_that_does_not_end_shows_the_capacity_by_what_comes_back() -> None:
    """Of 100 kpps a tenth is lost; 100 ms of queue come back after 10 s of sending."""
    trial = tried(100_000, 10, losses=dict.fromkeys(range(10), 10_000), p99_ns=MIN_NS + 100_000_000)
    assert overload_capacity_pps(trial, WIDTH, 0.0) == pytest.approx(90_000 * 10 / 10.1)


def test_a_queue_that_grows_shows_it_before_anything_is_lost() -> None:
    """A load of 101 % makes each second's frames wait 10 ms longer than the last one's."""
    trial = tried(101_000, 10, growth=10_000_000, p50_ns=50_000_000, p99_ns=99_000_000)
    assert overload_capacity_pps(trial, WIDTH, 0.0) == pytest.approx(100_000)


def test_a_standing_queue_shows_it() -> None:
    """Frames wait 10 ms at 100 kpps: that is the full queue of 1000."""
    trial = tried(100_000, 10, losses={3: 7}, p50_ns=MIN_NS + 10_000_000)
    assert overload_capacity_pps(trial, WIDTH, 1000.0) is not None
    assert overload_capacity_pps(trial, WIDTH, 5000.0) is None


def test_a_single_loss_is_no_overload() -> None:
    assert overload_capacity_pps(tried(100_000, 10, losses={3: 5000}), WIDTH, 0.0) is None


def test_loss_without_a_queue_is_none_where_overload_is_known_to_make_one() -> None:
    trial = tried(100_000, 10, losses=dict.fromkeys(range(10), 100))
    assert overload_capacity_pps(trial, WIDTH, 0.0) is not None
    assert overload_capacity_pps(trial, WIDTH, 1000.0) is None
