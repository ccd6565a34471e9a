"""Lists of worst latencies and loss events put together."""

from plimsoll.generator.counters import largest, longest
from plimsoll.generator.interface import LossesLeftOut, LossEvent, WorstLatency


def worst(latency: int, received: int = 10_000) -> WorstLatency:
    return WorstLatency(0, 1, received - latency, received, across_stall=False)


def loss(frames: int, seen: int = 0, filled: int = 0) -> LossEvent:
    return LossEvent(seen, frames, filled, None, seen, seen)


def test_the_longest_come_first_and_of_equal_ones_the_earlier() -> None:
    latencies = [worst(5), worst(900, 20_000), worst(900, 15_000), worst(7)]
    assert longest(latencies) == (latencies[2], latencies[1], latencies[3], latencies[0])


def test_no_more_latencies_are_kept_than_a_trial_lists() -> None:
    kept = longest(worst(latency) for latency in range(1, 1001))
    assert [each.latency_ticks for each in kept] == list(range(1000, 744, -1))


def test_the_largest_losses_are_kept_and_the_others_counted() -> None:
    losses = [loss(frames, filled=1) for frames in range(2, 302)]
    kept, left_out = largest(losses, [LossesLeftOut(3, 30), LossesLeftOut(1, 2)])
    assert [event.frames for event in kept] == list(range(301, 45, -1))
    # 44 events of 2 to 45 frames, each with one that came late: 1 + 2 + … + 44.
    assert left_out == LossesLeftOut(events=4 + 44, frames=32 + 990)
