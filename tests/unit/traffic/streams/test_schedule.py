"""Schedules: in which parts of a trial a stream sends, by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from plimsoll.traffic.plan import ALL_THE_TIME, Schedule
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.traffic.streams.profile import Profile
from plimsoll.traffic.streams.stream import Stream
from tests.worded.says import Says

# Sends from 5 to 7, 10 to 12, 15 to 17 and so on.
REPEATED = Schedule(start_s=5.0, duration_s=2.0, pause_s=3.0)


@pytest.mark.parametrize(
    ("schedule", "begin_s", "end_s", "sending_s"),
    [
        (ALL_THE_TIME, 0, 10, 10),
        (Schedule(start_s=4), 0, 10, 6),
        (Schedule(start_s=4), 0, 3, 0),
        (Schedule(start_s=4), 6, 10, 4),
        (Schedule(duration_s=4), 0, 10, 4),
        (Schedule(start_s=2, duration_s=4), 3, 10, 3),
        (Schedule(start_s=2, duration_s=4), 7, 10, 0),
        (REPEATED, 0, 5, 0),
        (REPEATED, 0, 6, 1),
        (REPEATED, 0, 10, 2),
        (REPEATED, 6, 11, 2),
        (REPEATED, 7, 10, 0),
        (REPEATED, 0, 105, 40),
        (Schedule(duration_s=2, pause_s=0), 0, 10, 10),
    ],
)
def test_the_time_in_which_it_sends(
    schedule: Schedule, begin_s: float, end_s: float, sending_s: float
) -> None:
    assert schedule.sending_s(begin_s, end_s) == pytest.approx(sending_s)


def test_when_it_begins_and_ends_to_send() -> None:
    assert REPEATED.edges_s(0, 16) == [5, 7, 10, 12, 15]
    assert REPEATED.edges_s(5, 7) == []
    assert Schedule(start_s=4).edges_s(0, 10) == [4]
    assert Schedule(start_s=4, duration_s=3).edges_s(0, 10) == [4, 7]
    assert ALL_THE_TIME.edges_s(0, 10) == []


@pytest.mark.parametrize(
    ("begin_s", "end_s", "times"), [(0, 5, 0), (0, 6, 1), (0, 11, 2), (6, 11, 2), (7, 9, 0)]
)
def test_how_often_it_sends(begin_s: float, end_s: float, times: int) -> None:
    assert REPEATED.repetitions(begin_s, end_s) == times


_times = st.floats(0, 1000)


@given(_times, _times, _times)
def test_parts_add_up(one: float, two: float, three: float) -> None:
    first, second, third = sorted((one, two, three))
    whole = REPEATED.sending_s(first, third)
    parts = REPEATED.sending_s(first, second) + REPEATED.sending_s(second, third)
    assert parts == pytest.approx(whole, abs=1e-6)
    assert 0 <= whole <= third - first + 1e-6


def _stream(**given: object) -> Stream:
    return Stream.model_validate({"name": "load", "role": "load"} | given)


def test_a_written_schedule_is_planned() -> None:
    written = {"start": "5s", "duration": "2s", "repeat": True, "pause": "3s"}
    stream = _stream(schedule=written)
    (plan, _) = compile_profile(Profile(streams=(stream,)), 1000.0, ((0, 1), (1, 0)))
    assert plan.schedule == REPEATED
    assert stream.model_dump(mode="json")["schedule"] == written
    assert Stream.model_validate(stream.model_dump(mode="json")) == stream


@pytest.mark.parametrize(
    "given",
    [
        {"start": "8d"},
        {"start": "-1s"},
        {"duration": "0.5ms"},
        {"duration": "0s"},
        {"offset": "5s"},
    ],
)
def test_a_schedule_that_cannot_be_kept_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        _stream(schedule=given)


def test_one_frame_in_flight_has_no_schedule(says: Says) -> None:
    with pytest.raises(ValidationError) as caught:
        Stream.model_validate(
            {
                "name": "probe",
                "role": "latency",
                "pacing": "one-in-flight",
                "schedule": {"start": "5s"},
            }
        )
    assert caught.value == says()
