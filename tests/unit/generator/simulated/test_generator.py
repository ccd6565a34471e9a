"""The generator as the layers above see it: trials, time, pacings and what ends them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from plimsoll.generator.simulated import SimulatedGenerator
from plimsoll.traffic.plan import Pacing
from tests.unit.generator.simulated.driving import (
    PATHS,
    check,
    generator_of,
    load_stream,
    model_of,
    plan_of,
    probe_stream,
    run,
)

EXACT: dict[str, Any] = {"capacity_deviation": 0.0}


def test_it_says_that_it_is_a_simulation() -> None:
    generator = generator_of("fixed-capacity")
    assert generator.facts.simulated
    assert (generator.facts.name, generator.facts.dpdk, generator.facts.pid) == (
        "simulation",
        None,
        None,
    )
    assert [port.driver for port in generator.ports] == ["simulated", "simulated"]
    assert [port.link_mbps for port in generator.ports] == [10_000, 10_000]


def test_the_same_seed_gives_the_same_trials_and_another_one_others() -> None:
    plan = plan_of(load_stream(0.95e6), probe_stream())
    first, again, other = (
        [run(generator_of("rare-stalls", seed), plan) for _ in range(1)] for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_what_is_sent_is_what_is_due() -> None:
    watched = run(generator_of("fixed-capacity"), plan_of(load_stream(333.3), probe_stream()))
    # Frame n is due at n / 333.3 s: 3333 in 10 s, the first at once.
    assert [counts.sent for counts in watched.of(0)[:3]] == [334, 333, 333]
    assert watched.total(0).sent == 3333
    assert watched.total(1).sent == 10_000
    assert watched.total(1).lateness.count == 10_000


def test_intervals_and_their_times() -> None:
    plan = plan_of(load_stream(1000.0), duration_s=2.5, interval_s=1.0, drain_s=1.5)
    watched = run(generator_of("fixed-capacity"), plan)
    assert [each.index for each in watched.intervals] == list(range(5))
    assert [each.phase for each in watched.intervals] == ["send"] * 3 + ["drain"] * 2
    assert [each.end_s for each in watched.intervals] == pytest.approx([1, 2, 2.5, 3, 4])
    assert [each.begin_s for each in watched.intervals[1:]] == [
        each.end_s for each in watched.intervals[:-1]
    ]
    begin_ns = watched.report.begin_unix_ns
    assert [each.end_unix_ns - begin_ns for each in watched.intervals] == [
        round(each.end_s * 1e9) for each in watched.intervals
    ]
    assert watched.report.sending_s == 2.5
    assert watched.report.ended_by == "duration"


def test_time_goes_on_from_trial_to_trial() -> None:
    generator = generator_of("fixed-capacity")
    plan = plan_of(load_stream(1000.0), duration_s=2.0, drain_s=1.0)
    began = [run(generator, plan).report.begin_unix_ns for _ in range(3)]
    # 2 s, 1 s of drain, and 0.1 s between.
    assert [later - earlier for earlier, later in pairwise(began)] == [3_100_000_000] * 2


def test_it_stops_on_request_and_drains() -> None:
    watched = run(
        generator_of("fixed-capacity"),
        plan_of(load_stream(1e5), duration_s=3600.0, drain_s=1.0),
        lambda interval: interval.index == 2,
    )
    assert watched.report.ended_by == "stop"
    assert watched.report.sending_s == 3.0
    assert [each.phase for each in watched.intervals] == ["send"] * 3 + ["drain"]
    check(watched)


def test_an_overload_by_hand() -> None:
    watched = run(
        generator_of("fixed-capacity", **EXACT), plan_of(load_stream(1.2e6), duration_s=10.0)
    )
    # Served 1 M a second; 4096 more wait when sending ends, and come in the drain.
    assert watched.total(0).received == pytest.approx(10e6 + 4096, abs=1)
    assert watched.of(0)[-1].received == 4096
    assert watched.lost(0) == pytest.approx(2e6 - 4096, abs=1)
    # A full buffer takes 4.096 ms, and the floor 10 us.
    assert watched.total(0).latency.quantile_ns(0.5) == pytest.approx(4_106_000, rel=0.01)


def test_what_a_short_drain_leaves_comes_into_the_next_trial() -> None:
    generator = generator_of("fixed-capacity", **EXACT)
    plan = plan_of(load_stream(1.2e6), duration_s=1.0, drain_s=0.001)
    first = run(generator, plan)
    assert sum(counts.received for counts in first.of(0)) == pytest.approx(1_001_000, abs=1)
    second = run(generator, plan_of(load_stream(1000.0), duration_s=1.0))
    assert [port.stale for port in second.report.ports] == [0, 3096]
    assert [port.stale for port in second.intervals[0].ports] == [0, 3096]
    third = run(generator, plan)
    assert [port.stale for port in third.report.ports] == [0, 0]


def test_the_line_takes_no_more_than_its_rate() -> None:
    # 64 B and 20 B of preamble and gap: 14,880,952 frames a second at 10 Gbit/s.
    watched = run(generator_of("fixed-capacity", capacity="100Mpps"), plan_of(load_stream(20e6)))
    total = watched.total(0)
    assert total.sent == pytest.approx(148_809_523, abs=20)
    assert total.sent + total.refused == 200_000_000
    check(watched)


@pytest.mark.parametrize(("burst", "passed"), [(1000, 1000), (4096, 4096), (100_000, None)])
def test_a_burst_of_frames_back_to_back_shows_the_buffer(burst: int, passed: int | None) -> None:
    stream = load_stream(None, pacing=Pacing("back-to-back"), frame_count=burst)
    watched = run(generator_of("fixed-capacity", **EXACT), plan_of(stream, duration_s=2.0))
    assert watched.total(0).sent == burst
    # At 14.88 Mpps the burst lasts burst / 14.88 M s, in which 1 M a second are served.
    through = 4096 + burst / 14_880_952 * 1e6
    assert watched.total(0).received == pytest.approx(passed or through, abs=1)
    check(watched)


def test_a_stream_ends_after_its_frames() -> None:
    stream = load_stream(1000.0, frame_count=2500)
    watched = run(generator_of("fixed-capacity"), plan_of(stream, duration_s=5.0))
    assert [counts.sent for counts in watched.of(0)] == [1000, 1000, 500, 0, 0, 0]


def test_a_poisson_stream_scatters() -> None:
    stream = load_stream(1000.0, pacing=Pacing("poisson"))
    watched = run(generator_of("fixed-capacity"), plan_of(stream, duration_s=100.0))
    sent = [counts.sent for counts in watched.of(0)[:100]]
    assert len(set(sent)) > 20
    # Five deviations of a Poisson count of 100,000.
    assert sum(sent) == pytest.approx(100_000, abs=1600)


def test_one_in_flight_waits_for_each_frame() -> None:
    probe = probe_stream(0, None, Pacing("one-in-flight"))
    watched = run(generator_of("fixed-capacity"), plan_of(probe))
    # 10 us through the DUT and 1 us to turn round.
    assert watched.total(0).sent == pytest.approx(10 / 11e-6, rel=0.001)
    slow = run(generator_of("fixed-capacity"), plan_of(replace(probe, rate_pps=1000.0)))
    assert slow.total(0).sent == 10_000


def test_one_in_flight_sees_a_stall_once() -> None:
    generator = generator_of(
        "rare-stalls", timing="regular", period="1s", distribution="fixed", length="2ms"
    )
    probe = probe_stream(0, None, Pacing("one-in-flight"))
    watched = run(generator, plan_of(probe, duration_s=100.0))
    check(watched)
    long = sum(n for us, n in watched.total(0).latency_us if us >= 900)
    # A hundred stalls; a waiting frame is drawn anywhere in its stall, so half are that long.
    assert 30 <= long <= 200
    # Nothing is sent for the 2 ms: 0.2 % of the frames.
    whole = run(generator_of("fixed-capacity"), plan_of(probe, duration_s=100.0)).total(0).sent
    assert whole - watched.total(0).sent == pytest.approx(0.002 * whole, rel=0.1)


def test_probes_lose_their_share() -> None:
    watched = run(
        generator_of("fixed-capacity", **EXACT),
        plan_of(load_stream(1.249e6), probe_stream(), duration_s=100.0),
    )
    # A fifth of 100,000 probes; five deviations.
    assert watched.lost(1) == pytest.approx(20_000, abs=650)


def test_directions_are_independent() -> None:
    watched = run(
        generator_of("asymmetric", reverse="500kpps", **EXACT),
        plan_of(load_stream(0.8e6, 0), load_stream(0.8e6, 1, (1, 0))),
    )
    assert watched.lost(0) == 0
    assert watched.lost(1) == pytest.approx(3e6 - 4096, abs=2)


def test_a_path_that_the_dut_has_not_is_a_mistake() -> None:
    generator = SimulatedGenerator(model_of("fixed-capacity"), PATHS[:1])
    with pytest.raises(KeyError):
        run(generator, plan_of(load_stream(1000.0, 0, (1, 0))))


def test_a_dut_is_as_the_trial_before_has_left_it() -> None:
    collapsing = generator_of("overload-collapse", **EXACT)
    good = plan_of(load_stream(0.8e6), duration_s=5.0, drain_s=2.0)
    assert run(collapsing, good).lost(0) == 0
    overload = run(collapsing, plan_of(load_stream(1.2e6), duration_s=5.0, drain_s=2.0))
    # 4096 frames too many in 20.48 ms; half the capacity from then on.
    assert overload.total(0).received == pytest.approx(0.5e6 * 5 + 0.5e6 * 0.02048 + 4096, rel=1e-3)
    # 2.1 s without load are not the 5 s that it needs.
    assert run(collapsing, good).lost(0) == pytest.approx(1.5e6, rel=0.01)
    run(collapsing, plan_of(load_stream(0.1e6), duration_s=5.0, drain_s=2.0))
    assert run(collapsing, good).lost(0) == 0


def test_a_dut_is_cold_after_the_drain() -> None:
    generator = generator_of("warm-up", **EXACT)
    plan = plan_of(load_stream(0.95e6), duration_s=10.0, drain_s=2.0)
    for _ in range(2):
        watched = run(generator, plan)
        # 50,000 a second too many for 2 s, less the buffer.
        assert watched.lost(0) == pytest.approx(100_000 - 4096, rel=0.01)
        assert all(counts.missing == 0 for counts in watched.of(0)[3:])
    warm = plan_of(load_stream(0.95e6), duration_s=10.0, drain_s=0.5)
    run(generator, warm)
    assert run(generator, warm).lost(0) == 0


def test_a_dut_tires_and_rests() -> None:
    generator = generator_of("drift", **EXACT)
    plan = plan_of(load_stream(0.9e6), duration_s=3600.0, interval_s=60.0, drain_s=2.0)
    lost = [counts.missing for counts in run(generator, plan).of(0)]
    # The capacity meets the load after 1200 s * ln(0.135 / 0.035) = 1620 s.
    assert next(n for n, frames in enumerate(lost[:60]) if frames) in (26, 27)
    assert run(generator, plan_of(load_stream(0.9e6), duration_s=10.0)).lost(0) > 0
    for _ in range(60):
        run(generator, plan_of(load_stream(1.0), duration_s=0.1, drain_s=60.0))
    assert run(generator, plan_of(load_stream(0.9e6), duration_s=10.0)).lost(0) == 0
