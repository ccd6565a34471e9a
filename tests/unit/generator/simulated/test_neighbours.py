"""Noisy neighbours, buffers that others use, and the hour, against figures by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

from plimsoll.generator.simulated import SimulatedGenerator
from plimsoll.search.simulated.models.capacity.diurnal import Diurnal
from plimsoll.search.simulated.models.dut_model import DutModel
from plimsoll.search.simulated.models.stalls.noisy_neighbour import NoisyNeighbour
from plimsoll.search.simulated.models.stalls.rare_stalls import ChangingBuffer
from tests.unit.generator.simulated.driving import chance_of, load_stream, plan_of, run

EXACT: dict[str, Any] = {"capacity_deviation": 0.0}


def lost_share(model: DutModel, load_pps: float, duration_s: float, seed: int = 1) -> float:
    generator = SimulatedGenerator(model, ((0, 1),), seed=seed)
    plan = plan_of(load_stream(load_pps), duration_s=duration_s, interval_s=duration_s / 10)
    watched = run(generator, plan)
    return watched.lost(0) / watched.total(0).sent


def test_a_neighbour_takes_what_his_bursts_do_not_leave() -> None:
    # There for a quarter of the time, then a burst of about 20 ms each 2.02 s at 40 %: of a load
    # of 0.9 C, half of C is queued in it, 10,000 frames; 4096 find room.
    model = NoisyNeighbour(length=20e-3, length_deviation=0.001, **EXACT)
    expected = (10_000 - 4096) / 2.02 / 4 / 0.9e6
    assert lost_share(model, 0.9e6, 200_000.0) == pytest.approx(expected, rel=0.15)


def test_a_neighbour_is_there_for_his_share_of_the_time() -> None:
    behaviour = NoisyNeighbour(there=100, gone=300).behaviour(0, chance_of(3))
    now_s, bursts = 0.0, 0
    while now_s < 400_000.0:
        service = behaviour.service(now_s, 1.0, 0.0)
        bursts += service.capacity_pps < 1e6 * 0.9
        now_s = service.until_s
    assert bursts / 400_000.0 == pytest.approx(0.25 / 2.006, rel=0.1)


def test_bursts_that_leave_enough_lose_nothing() -> None:
    assert lost_share(NoisyNeighbour(taken=0.3, length=1.0), 0.69e6, 20_000.0) == 0.0


def test_the_small_buffer_is_what_stalls_have_in_the_end() -> None:
    # Stalls of 3 ms by a hair: 2048 frames hold 0.683 Mpps, 4096 more than the capacity.
    model = ChangingBuffer(length=3e-3, length_deviation=0.0001, **EXACT)
    # In a row they would fill it together; here one drains in 6 ms, and 10 s go by.
    assert model.survival(0, 0.68e6, 0.0, 1000.0) > 0.9
    assert model.survival(0, 0.69e6, 0.0, 10_800.0) < 0.01


def test_a_stall_loses_what_the_buffer_of_the_hour_has_no_room_for() -> None:
    # A quarter of the stalls finds half of the buffer: 0.9 * 3000 frames come, 652 are lost.
    model = ChangingBuffer(length=3e-3, length_deviation=0.0001, **EXACT)
    expected = 0.25 * (2700 - 2048) / (0.9e6 * 10.003)
    assert lost_share(model, 0.9e6, 400_000.0) == pytest.approx(expected, rel=0.1)


def test_no_buffer_is_smaller_than_a_frame() -> None:
    assert ChangingBuffer(buffer=1, small=0.1).small_frames == 1


def test_the_hour_takes_half_of_the_depth_in_the_mean() -> None:
    model = Diurnal(period=3600, depth=0.2, **EXACT)
    # At a load of 1 C all of the swing is lost: a tenth.
    assert lost_share(model, 1e6, 36_000.0) == pytest.approx(0.1, rel=1e-2)
    assert lost_share(model, 0.799e6, 36_000.0) == 0.0


def test_what_is_above_a_part_of_the_swing_by_its_integral() -> None:
    # At 0.9 C half of the time is above, by 0.1 C sin: 0.1 / pi of C in the mean.
    model = Diurnal(period=3600, depth=0.2, **EXACT)
    assert lost_share(model, 0.9e6, 36_000.0) == pytest.approx(0.1 / math.pi / 0.9, rel=1e-2)


def test_a_short_period_leaves_its_least_capacity() -> None:
    found = Diurnal(period=7200, depth=0.2, **EXACT).sustainable_pps(0.0)
    assert found == pytest.approx(0.8e6, rel=1e-3)


def test_of_a_long_period_the_least_may_be_missed() -> None:
    model = Diurnal(period=108_000, depth=0.2, **EXACT)
    # A soak is a tenth of the period. At 0.9 C half of it is too much: 60 % meet that half.
    assert model.survival(0, 0.9e6, 0.0, 10_800.0) == pytest.approx(0.4, abs=0.01)
    assert model.survival(0, 0.8e6, 0.0, 10_800.0) == 1.0
