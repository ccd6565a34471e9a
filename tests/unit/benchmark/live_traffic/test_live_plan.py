"""What a trial of live traffic is made with."""

import pytest

from plimsoll.benchmark.live_traffic.known_stream import KnownStream
from plimsoll.benchmark.live_traffic.live_trial import LiveSettings, live_plan
from tests.unit.benchmark.live_traffic.test_live_traffic import stream


@pytest.mark.parametrize(
    ("rate_pps", "catch_up_us"), [(1e4, 10_000.0), (1e6, 4096.0), (1e7, 409.6), (1e9, 10.0)]
)
def test_a_loop_catches_up_with_a_quarter_of_a_queue_at_most(
    rate_pps: float, catch_up_us: float
) -> None:
    known = KnownStream(stream(1, rate_pps))
    settings = LiveSettings(catch_up_us=10_000.0)
    plan = live_plan({1: known}, settings, (), mark=1, queue_frames=16384, receiving=False)
    assert plan.catch_up_us == pytest.approx(catch_up_us)
