"""No frame is made or gone, whatever the model, the load and the pacing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.search.simulated.models.registry import model_kinds
from plimsoll.traffic.plan import Pacing
from tests.unit.generator.simulated.driving import (
    check,
    generator_of,
    load_stream,
    plan_of,
    probe_stream,
    run,
)

PACINGS = st.one_of(
    st.just(Pacing()),
    st.builds(Pacing, st.just("burst"), st.integers(1, 64)),
    st.just(Pacing("poisson")),
)


@given(
    kind=st.sampled_from(list(model_kinds())),
    seed=st.integers(0, 10_000),
    loads=st.lists(st.floats(1.0, 3e6), min_size=1, max_size=3),
    duration_s=st.floats(0.01, 30.0),
    interval_s=st.sampled_from([0.1, 0.25, 1.0, 7.0, 60.0]),
    drain_s=st.sampled_from([0.0, 0.003, 2.0]),
    pacing=PACINGS,
    buffer=st.sampled_from([1, 64, 4096, 100_000]),
)
def test_every_frame_sent_is_received_lost_or_under_way(
    *,
    kind: str,
    seed: int,
    loads: list[float],
    duration_s: float,
    interval_s: float,
    drain_s: float,
    pacing: Pacing,
    buffer: int,
) -> None:
    generator = generator_of(kind, seed, buffer=buffer)
    for load_pps in loads:
        streams = (
            load_stream(load_pps, 0, pacing=pacing),
            probe_stream(1),
            load_stream(load_pps, 2, (1, 0), pacing),
        )
        plan = plan_of(*streams, duration_s=duration_s, interval_s=interval_s, drain_s=drain_s)
        check(run(generator, plan))


@pytest.mark.parametrize("kind", list(model_kinds()))
@pytest.mark.parametrize("share", [0.3, 0.95, 1.3])
def test_what_is_received_is_never_more_than_the_capacity_and_the_buffer(
    kind: str, share: float
) -> None:
    watched = run(generator_of(kind), plan_of(load_stream(share * 1e6), duration_s=20.0))
    for counts, interval in zip(watched.of(0), watched.intervals, strict=True):
        length_s = interval.end_s - interval.begin_s
        # Four deviations of the capacity, and the queue of the interval before.
        assert counts.received <= 1.002e6 * length_s + 4096 + 1


@pytest.mark.parametrize("kind", list(model_kinds()))
def test_no_frame_waits_longer_than_the_buffer_and_the_stalls_make_it(kind: str) -> None:
    watched = run(generator_of(kind), plan_of(load_stream(1.3e6), probe_stream()))
    # Half the capacity after a collapse; a stall of 2 ms; and a floor of 10 us that jitters.
    longest_ns = 4096 / (0.5e6 * 0.998) * 1e9 + 4e6 + 20_000
    for stream in (0, 1):
        assert (watched.total(stream).latency.max_ns or 0) <= longest_ns
