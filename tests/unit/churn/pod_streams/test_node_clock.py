"""A node's clock, from exchanges that take their time."""

import time

import pytest

from plimsoll.churn.pod_streams.pod_streams import NodeClock
from tests.worded.says import Says


class Elsewhere:
    """A node whose clock is ahead, and the ways to it and back, of which the last is short."""

    def __init__(self, ahead_ns: int, way_s: float) -> None:
        self._ahead_ns = ahead_ns
        self._way_s = way_s
        self._answer = b""
        self.exchanges = 0

    def write(self, data: bytes) -> None:
        assert data == b"clock\n"
        self.exchanges += 1
        time.sleep(self._way_s / self.exchanges)
        self._answer = str(time.time_ns() + self._ahead_ns).encode()

    def read_line(self, timeout_s: float) -> bytes:
        assert timeout_s > 0
        return self._answer


@pytest.mark.parametrize("ahead_ns", [0, 3_600_000_000_000, -5_000_000_000])
def test_it_is_wrong_by_no_more_than_it_says(ahead_ns: int) -> None:
    # All of the way is there, and none back: the worst that can be.
    clock = NodeClock.read(Elsewhere(ahead_ns, way_s=0.08))
    assert abs(clock.ahead_ns - ahead_ns) <= clock.error_ns
    assert clock.ours_ns(ahead_ns + 7) == pytest.approx(7, abs=clock.error_ns)


def test_an_answer_that_is_no_time_is_an_error(says: Says) -> None:
    class Other(Elsewhere):
        def read_line(self, timeout_s: float) -> bytes:
            return b"command not found"

    with pytest.raises(ValueError) as caught:
        NodeClock.read(Other(0, 0.0))
    assert caught.value == says()
