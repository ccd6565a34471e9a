"""DUTs that load changes, and one whose links flap, against figures by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

from plimsoll.generator.simulated import SimulatedGenerator
from plimsoll.search.simulated.models.capacity.link_flaps import LinkFlaps
from tests.unit.generator.simulated.driving import (
    Watched,
    chance_of,
    generator_of,
    load_stream,
    model_of,
    plan_of,
    run,
)

EXACT: dict[str, Any] = {"capacity_deviation": 0.0}


def trial(generator: SimulatedGenerator, load_pps: float, duration_s: float) -> Watched:
    plan = plan_of(load_stream(load_pps), duration_s=duration_s, interval_s=10.0)
    return run(generator, plan)


def first_lossy_s(watched: Watched) -> float | None:
    return next((each.end_s for each in watched.intervals if each.streams[0].missing), None)


def test_it_throttles_after_ten_minutes_at_its_capacity() -> None:
    watched = trial(generator_of("thermal", **EXACT), 0.9999e6, 900.0)
    # ln 10 = 2.303 of its 260 s, to the interval's end.
    assert first_lossy_s(watched) == pytest.approx(math.log(10) * 260, abs=10.0)
    assert watched.intervals[-20].streams[0].received == pytest.approx(0.8e6 * 10, rel=1e-3)


def test_below_its_hot_temperature_it_never_does() -> None:
    generator = generator_of("thermal", **EXACT)
    assert trial(generator, 0.899e6, 10_800.0).lost(0) == 0
    found = model_of("thermal", **EXACT).sustainable_pps(0.0)
    assert found == pytest.approx(0.9e6, rel=1e-4)


def test_throttled_it_stays_where_its_load_keeps_it_warm() -> None:
    watched = trial(generator_of("thermal", **EXACT), 0.95e6, 10_800.0)
    # It becomes 0.8 when throttled, and cools at 0.7.
    hot_s = 260 * math.log(0.95 / 0.05)
    lost = (10_800 - hot_s) * 0.15e6
    assert watched.lost(0) == pytest.approx(lost, rel=1e-3)


def test_it_goes_to_and_fro_where_it_cools_down_under_load() -> None:
    # Throttled to 60 % it cools from 0.9 to 0.7, then heats again towards 1.
    model = model_of("thermal", throttled=0.6, **EXACT)
    cooling_s, heating_s = 260 * math.log(0.3 / 0.1), 260 * math.log(0.3 / 0.1)
    first_s = 260 * math.log(10)
    cycles = (10_800 - first_s) / (cooling_s + heating_s)
    expected = cycles * cooling_s * 0.4e6
    generator = SimulatedGenerator(model, ((0, 1),), seed=1)
    assert trial(generator, 1e6, 10_800.0).lost(0) == pytest.approx(expected, rel=0.03)


def test_heat_goes_from_trial_to_trial_until_it_has_rested() -> None:
    generator = generator_of("thermal", **EXACT)
    trial(generator, 0.99e6, 900.0)
    assert trial(generator, 0.85e6, 10.0).lost(0) > 0
    # From 0.9 to 0.7 without load: 260 ln(9/7) = 65 s.
    trial(generator, 1.0, 70.0)
    assert trial(generator, 0.85e6, 10.0).lost(0) == 0


@pytest.mark.slow
def test_a_flap_takes_its_share_for_its_time() -> None:
    model = LinkFlaps(period=2000.0, outage=100.0, share=0.1, capacity_deviation=0.0)
    # A flap each 2000 s of 100 s: M/D/oo, 0.05 links are out in the mean.
    watched = trial(SimulatedGenerator(model, ((0, 1),), seed=4), 1e6, 200_000.0)
    assert watched.lost(0) / watched.total(0).sent == pytest.approx(0.05 * 0.1, rel=0.3)


def test_seconds_with_links_out_need_a_capacity() -> None:
    model = LinkFlaps(share=0.04)
    seconds = {0: 10_000.0, 1: 700.0, 2: 100.0}
    assert model.needed_capacity(seconds, 0.0) == pytest.approx(1 / 0.92)
    # A loss of 1 %: 108 s of load. At c = 0.996... all seconds lose a little.
    c = (10_800 - 108) / (10_000 + 700 * 0.96 + 100 * 0.92)
    assert model.needed_capacity(seconds, 0.01) == pytest.approx(c)
    assert model.needed_capacity({0: 10_800.0}, 0.0) == 1.0


def test_rare_flaps_leave_all_and_frequent_ones_what_most_at_once_leave() -> None:
    rare = LinkFlaps(period=1e7, capacity_deviation=0.0)
    assert rare.sustainable_pps(0.0) == pytest.approx(1e6, rel=1e-4)
    # None in 3 h and 40 min: exp(-13200 / period). One of 11 hours is met by 28 %.
    model = LinkFlaps(period=40_000.0, capacity_deviation=0.0)
    none = math.exp(-13_200 / 40_000)
    assert model.survival(0, 0.999e6, 0.0, 10_800.0) == pytest.approx(none, abs=0.015)
    assert model.survival(0, 0.959e6, 0.0, 10_800.0) > 0.95


def test_a_direction_begins_with_as_many_links_out_as_at_any_time() -> None:
    model = LinkFlaps(period=1000.0, outage=1000.0, share=0.04, capacity_deviation=0.0)
    capacities = [
        model.behaviour(0, chance_of(seed)).service(0.0, 1.0, 0.0).capacity_pps
        for seed in range(400)
    ]
    # A Poisson count of mean 1.
    assert sum(capacity == 1e6 for capacity in capacities) / 400 == pytest.approx(
        math.exp(-1), abs=0.08
    )


def test_collapsed_it_stays_so_until_its_load_is_far_lower() -> None:
    generator = generator_of("hysteresis", **EXACT)
    assert trial(generator, 0.95e6, 10.0).lost(0) == 0
    trial(generator, 1.1e6, 2.0)
    # It carries 0.7; half of its capacity does not release it, however long.
    assert trial(generator, 0.5e6, 100.0).lost(0) == 0
    assert trial(generator, 0.75e6, 10.0).lost(0) == pytest.approx(0.05e6 * 10, rel=0.02)
    # At 0.3 for 20 s it does, the pauses between trials counted.
    trial(generator, 0.3e6, 25.0)
    assert trial(generator, 0.95e6, 10.0).lost(0) == 0


def test_a_pause_shorter_than_the_recovery_does_not_release_it() -> None:
    generator = generator_of("hysteresis", recovery="20s", **EXACT)
    trial(generator, 1.1e6, 2.0)
    trial(generator, 0.3e6, 10.0)
    assert trial(generator, 0.75e6, 10.0).lost(0) > 0


def test_a_collapse_is_sustained_below_the_capacity_that_is_whole() -> None:
    found = model_of("hysteresis", **EXACT).sustainable_pps(0.0)
    assert found == pytest.approx(1e6, rel=1e-5)


def test_release_is_no_higher_than_what_is_left() -> None:
    with pytest.raises(ValueError, match=r"is 0\.8"):
        model_of("hysteresis", collapsed=0.7, release=0.8)


def test_cool_is_below_hot() -> None:
    with pytest.raises(ValueError, match=r"is 0\.9"):
        model_of("thermal", hot=0.8, cool=0.9)


def test_capacity_falls_a_step_at_a_time() -> None:
    watched = trial(generator_of("steps", **EXACT), 0.97e6, 5000.0)
    # To 0.95 after 1200 s, 0.9 after 2400, 0.85 after 3600, and no further.
    lost = 1200 * (0.02e6 + 0.07e6) + (5000 - 3600) * 0.12e6
    assert watched.lost(0) == pytest.approx(lost - 4096, rel=1e-4)
    assert first_lossy_s(watched) == pytest.approx(1200, abs=10.0)


def test_it_begins_anew_after_it_was_idle_for_long_enough() -> None:
    generator = generator_of("steps", first="100s", count=1, idle="30s", **EXACT)
    assert trial(generator, 0.97e6, 110.0).lost(0) > 0
    # The load of two trials counts together, for the pause between them is short.
    assert trial(generator, 0.97e6, 90.0).lost(0) > 0
    generator.now_s += 60.0
    assert trial(generator, 0.97e6, 90.0).lost(0) == 0


def test_steps_are_sustained_where_the_last_of_the_soak_ends() -> None:
    assert model_of("steps", **EXACT).sustainable_pps(0.0) == pytest.approx(0.85e6, rel=1e-4)
    late = model_of("steps", first="2h", every="2h", **EXACT)
    # One step falls into three hours; what is too much for the last has 4096 frames of room.
    assert late.sustainable_pps(0.0) == pytest.approx(0.95e6, rel=1e-4)
    # One per cent of the load may be lost: in the last hour three.
    assert late.sustainable_pps(0.01) == pytest.approx(0.95e6 / 0.97, rel=1e-3)
