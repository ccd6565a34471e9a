"""What loads are likely to last, by how long others lasted."""

from __future__ import annotations

import pytest

from plimsoll.search.load_line.first_loss import Lasted, lasted, lasting_pps
from tests.unit.search.load_line.trials import tried

HOURS_S = 10_800.0


def test_without_a_loss_there_is_nothing_to_keep_below() -> None:
    assert lasting_pps([Lasted(1e6, HOURS_S, lost=False)], HOURS_S, 0.95) is None


def test_a_failure_alone_leaves_open_how_far_down_it_is() -> None:
    foretold = lasting_pps([Lasted(1e6, 600.0, lost=True)], HOURS_S, 0.95)
    assert foretold is not None
    assert 0.6e6 < foretold < 0.97e6


def test_each_further_failure_below_says_that_it_is_further_down() -> None:
    """Loads a little lower that fail as soon: what loses does not become rarer so fast."""
    seen = [Lasted(1e6, 600.0, lost=True)]
    shares = list[float]()
    for load_pps in (1e6, 0.97e6, 0.94e6, 0.9e6):
        seen.append(Lasted(load_pps, 600.0, lost=True))
        foretold = lasting_pps(seen, HOURS_S, 0.95)
        assert foretold is not None
        shares.append(foretold / load_pps)
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] < shares[0] - 0.02


def test_a_load_that_passed_just_below_many_losses_is_near_one_that_lasts() -> None:
    """Lost in seconds at the one, not in hours 2 % below: as steep as that it is likely to be."""
    seen = [Lasted(1e6, 5.0, lost=True), Lasted(0.98e6, HOURS_S, lost=False)]
    foretold = lasting_pps(seen, HOURS_S, 0.95)
    assert foretold == pytest.approx(0.98e6, rel=0.01)


def test_short_trials_say_nothing_of_hours() -> None:
    trials = [tried(1e6, 2, losses={0: 3}), tried(1e6, 60), tried(9e5, 90, losses={30: 1})]
    assert lasted(trials, 60.0) == [Lasted(1e6, 60.0, lost=False), Lasted(9e5, 30.0, lost=True)]
