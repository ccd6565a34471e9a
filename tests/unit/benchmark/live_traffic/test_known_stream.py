"""How much is left of a stream's time, whatever becomes of the wall clock meanwhile."""

import time
from dataclasses import replace

import pytest

from plimsoll.benchmark.live_traffic.known_stream import KnownStream
from plimsoll.benchmark.live_traffic.live_book import no_counts
from plimsoll.generator.interface import StreamCourse
from tests.this_thread import in_this_thread
from tests.unit.benchmark.live_traffic.test_live_traffic import stream

NOON_NS = 1_795_000_000 * 10**9


@pytest.mark.parametrize("step_s", [-3600, 3600])
def test_a_wall_clock_that_is_set_changes_nothing_of_what_is_left(
    monkeypatch: pytest.MonkeyPatch, step_s: int
) -> None:
    wall_ns, since_boot_ns = [NOON_NS], [10**9]
    monkeypatch.setattr(time, "time_ns", in_this_thread(time.time_ns, lambda: wall_ns[0]))
    monkeypatch.setattr(
        time, "monotonic_ns", in_this_thread(time.monotonic_ns, lambda: since_boot_ns[0])
    )
    known = KnownStream(stream(1))
    known.start(10.0)
    # It began a quarter of a second ago, as the generator says.
    begin_ns = NOON_NS - 250_000_000
    known.note_begin(StreamCourse(1, begin_ns, begin_ns + 10 * 10**9))
    wall_ns[0] += step_s * 10**9
    since_boot_ns[0] += 2 * 10**9
    assert known.remaining_s() == pytest.approx(7.75)
    known.hold()
    wall_ns[0] -= 2 * step_s * 10**9
    since_boot_ns[0] += 60 * 10**9
    assert known.go_on() == pytest.approx(7.75)
    since_boot_ns[0] += 10**9
    assert known.remaining_s() == pytest.approx(6.75)


def test_the_end_of_a_burst_is_noted_after_its_frames_were_counted() -> None:
    known = KnownStream(replace(stream(1), frame_count=300))
    known.start(None)
    known.note_begin(StreamCourse(1, NOON_NS, None))
    known.note(replace(no_counts(1), sent=300))
    assert not known.sending
    ended = StreamCourse(1, NOON_NS, NOON_NS + 3 * 10**8)
    assert known.note_end(ended)
    assert known.course == ended
    assert not known.note_end(ended)
