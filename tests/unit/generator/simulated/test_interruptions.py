"""Models that are interrupted, against figures by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest
from pydantic import ValidationError

from plimsoll.search.simulated.models.stalls.garbage_collector import GarbageCollector
from plimsoll.search.simulated.models.stalls.interrupted import InterruptedModel
from plimsoll.search.simulated.models.stalls.rare_stalls import RareStalls
from plimsoll.search.simulated.models.stalls.slow_phases import SlowPhases
from plimsoll.search.simulated.models.stalls.stall_length import StallLength
from tests.unit.generator.simulated.driving import (
    chance_of,
    generator_of,
    load_stream,
    model_of,
    plan_of,
    run,
)
from tests.worded.says import Says

EACH = math.sqrt(0.95)
EXACT: dict[str, Any] = {"capacity_deviation": 0.0}


def lost_share(kind: str, load_pps: float, duration_s: float, **settings: object) -> float:
    """Of one long trial."""
    plan = plan_of(load_stream(load_pps), duration_s=duration_s, interval_s=duration_s / 10)
    watched = run(generator_of(kind, 1, **settings), plan)
    return watched.lost(0) / watched.total(0).sent


def test_a_uniform_length_by_its_integrals() -> None:
    lengths = StallLength.between(3e-3, 9e-3)
    assert lengths.mean_s == pytest.approx(6e-3)
    # A third of [3, 9] ms is above 7 ms, and half below 6.
    assert lengths.odds_longer(7e-3) == pytest.approx(1 / 3)
    assert lengths.odds_longer(1e-3) == 1.0
    assert lengths.odds_longer(9e-3) == 0.0
    # Half of them count for 4.5 ms in the mean, half for 6.
    assert lengths.mean_up_to(6e-3) == pytest.approx(5.25e-3)
    # One third is beyond 7 ms, by up to 2 ms: the mean of the squares is 4/3 there.
    assert lengths.mean_square_beyond(7e-3) == pytest.approx(4e-6 / 3 / 3)
    drawn = [lengths.drawn(chance_of(seed)) for seed in range(500)]
    assert 3e-3 <= min(drawn) < 3.1e-3
    assert 8.9e-3 < max(drawn) <= 9e-3


def test_a_shape_without_a_variance_is_refused(says: Says) -> None:
    settings = {"kind": "rare-stalls", "distribution": "pareto", "length_deviation": 0.5}
    with pytest.raises(ValidationError) as caught:
        RareStalls.model_validate(settings)
    (error,) = caught.value.errors()
    assert error["ctx"]["field"] == ("length_deviation",)
    assert error["ctx"]["remedy"] == says("0.45")


def test_lengths_that_do_not_differ_are_fixed() -> None:
    assert StallLength.between(2e-3, 2e-3).odds_longer(2e-3) == 0.0


@pytest.mark.parametrize("kind", ["housekeeping", "slow-phases"])
def test_the_shortest_is_no_longer_than_the_longest(kind: str) -> None:
    with pytest.raises(ValueError, match="is 8 s"):
        model_of(kind, shortest="8s", longest="7s")


def test_housekeeping_is_bridged_by_the_buffer() -> None:
    found = model_of("housekeeping", **EXACT).sustainable_pps(0.0)
    # P(none of 292 of [3, 9] ms is longer than t) = ((t - 3) / 6)^292 (292 = 10800 / 37).
    longest_s = (3 + 6 * EACH ** (37 / 10_800)) * 1e-3
    assert found == pytest.approx(4096 / longest_s, rel=1e-4)


def test_housekeeping_loses_what_the_buffer_has_no_room_for() -> None:
    # Sweeps of 8 ms each 10 s: 8000 frames come, 4096 find room.
    settings: dict[str, Any] = {"period": "10s", "shortest": "8ms", "longest": "8ms", **EXACT}
    found = lost_share("housekeeping", 0.9e6, 1000.0, **settings)
    assert found == pytest.approx((0.9e6 * 8e-3 - 4096) / (0.9e6 * 10), rel=0.02)


def test_slow_phases_that_come_often_leave_their_own_capacity() -> None:
    # Fifty phases in three hours: what they do not carry is lost.
    found = model_of("slow-phases", **EXACT).sustainable_pps(0.0)
    # 4096 frames of room for the longest of the phases, 20 s.
    assert found == pytest.approx(0.7e6 + 4096 / 20, rel=1e-3)


def test_slow_phases_that_hardly_ever_come_leave_the_whole_capacity() -> None:
    # One in 305 hours: a direction meets none in three with 99 %.
    found = model_of("slow-phases", share=1e-5, **EXACT).sustainable_pps(0.0)
    assert found == pytest.approx(1e6, rel=1e-3)


def test_slow_phases_take_their_share_of_the_capacity() -> None:
    # 5 % of the time at 70 %: of a load of 0.9 C, 0.2 C is lost for a twentieth of the time.
    found = lost_share("slow-phases", 0.9e6, 400_000.0, **EXACT)
    assert found == pytest.approx(0.05 * 0.2 / 0.9, rel=0.08)
    assert lost_share("slow-phases", 0.69e6, 40_000.0, **EXACT) == 0.0


def test_what_is_left_of_the_capacity_makes_a_stall_of_the_rest() -> None:
    # At 0.9 C a phase at 0.7 C for 20 ms brings 4000 frames more than are served.
    model = SlowPhases(shortest=20e-3, longest=20e-3, share=1e-4, capacity_deviation=0.0)
    assert model.survival(0, 0.90e6, 0.0, 2000.0) > 0.99
    assert model.survival(0, 0.92e6, 0.0, 2000.0) == pytest.approx(math.exp(-10), rel=0.1)


def test_phases_in_a_row_fill_the_buffer_together() -> None:
    # The 4000 frames of one are served in 40 ms, into which falls one of 49.5 of the next.
    model = SlowPhases(shortest=20e-3, longest=20e-3, share=0.01, capacity_deviation=0.0)
    assert model.survival(0, 0.90e6, 0.0, 100.0) == pytest.approx(math.exp(-50 / 49.5), abs=0.05)


def test_pauses_grow_with_the_load() -> None:
    model = GarbageCollector(growth=2.0)
    full, half = model.interruptions(1e6), model.interruptions(0.5e6)
    assert full.lengths.length_s == pytest.approx(4e-3)
    assert half.lengths.length_s == pytest.approx(1e-3)
    assert (full.period_s, half.period_s) == (pytest.approx(10.0), pytest.approx(20.0))


def test_pauses_of_a_sure_length_are_bridged_where_load_and_length_meet() -> None:
    # load * 8 ms * load / C = 4096, for pauses too rare to come in a row.
    settings: dict[str, Any] = {"length": "8ms", "length_deviation": 0.0001, "period": "2000s"}
    found = model_of("garbage-collector", **settings, **EXACT)
    expected = math.sqrt(4096 / 8e-3 * 1e6)
    assert found.sustainable_pps(0.0) == pytest.approx(expected, rel=1e-3)


def test_garbage_is_collected_as_often_as_it_comes() -> None:
    # At 0.8 C a pause of 12.8 ms each 12.5 s loses 0.8e6 * 12.8e-3 - 4096 = 6144 frames.
    settings: dict[str, Any] = {"length": "16ms", "length_deviation": 0.0001, **EXACT}
    found = lost_share("garbage-collector", 0.8e6, 40_000.0, **settings)
    assert found == pytest.approx(6144 / (0.8e6 * 12.5128), rel=0.06)


def test_an_idle_dut_collects_no_garbage() -> None:
    model = GarbageCollector()
    behaviour = model.behaviour(0, chance_of(1))
    assert behaviour.service(0.0, 0.0, 0.0).until_s == math.inf


@pytest.mark.parametrize("kind", ["housekeeping", "slow-phases", "garbage-collector"])
def test_interruptions_take_less_than_all(kind: str) -> None:
    model = model_of(kind)
    assert isinstance(model, InterruptedModel)
    assert 0.0 < model.interruptions(0.5e6).taken_share < 0.1
