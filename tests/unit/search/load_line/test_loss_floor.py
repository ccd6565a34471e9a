"""Losses that no load avoids, told from those that a lower load does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.search.load_line.hazard import LossRate
from plimsoll.search.load_line.loss_floor import loss_floor


@given(st.floats(1e-7, 1e-5))
def test_as_many_for_each_frame_at_a_fourth_of_the_load_is_a_floor(share: float) -> None:
    rates = [LossRate(load, share * load * 600, 600) for load in (2.5e5, 1e6)]
    assert loss_floor(rates) == pytest.approx(share)


def test_what_a_lower_load_loses_far_less_of_is_none() -> None:
    assert loss_floor([LossRate(2.5e5, 3, 60), LossRate(1e6, 600, 60)]) is None


def test_few_events_or_loads_close_together_say_nothing() -> None:
    assert loss_floor([]) is None
    assert loss_floor([LossRate(2.5e5, 2, 60), LossRate(1e6, 8, 60)]) is None
    assert loss_floor([LossRate(9e5, 54, 60), LossRate(1e6, 60, 60)]) is None
