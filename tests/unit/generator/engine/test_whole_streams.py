"""When streams begin and end that the engine sends in parts."""

from __future__ import annotations

from plimsoll.generator.engine.engine_trial import WholeStreams
from plimsoll.generator.engine.messages import begin_request, read_begun, read_ended
from plimsoll.generator.engine.queue_parts import QueueParts
from plimsoll.generator.interface import StreamBegin, StreamCourse
from plimsoll.traffic.plan import StreamPlan


def parts() -> QueueParts:
    """Stream 3 is sent by two queues, as 3 and 6; stream 5, a probe, by one."""
    load = StreamPlan(3, "load", "load", 0, 1, (bytes(60),), 1000.0)
    probe = StreamPlan(5, "probe", "latency", 0, 1, (bytes(60),), 10.0)
    return QueueParts.of((load, probe), (2, 2))


def test_a_stream_has_ended_when_all_of_its_parts_have() -> None:
    whole = WholeStreams(parts())
    assert whole.ended([StreamCourse(3, 100, 900), StreamCourse(5, 100, 500)]) == (
        StreamCourse(5, 100, 500),
    )
    assert whole.ended([StreamCourse(6, 90, 800)]) == (StreamCourse(3, 90, 900),)


def test_what_begins_anew_has_all_its_parts_to_end() -> None:
    whole = WholeStreams(parts())
    assert whole.ended([StreamCourse(3, 100, 900)]) == ()
    whole.begin([3])
    assert whole.ended([StreamCourse(6, 1000, 1900)]) == ()
    assert whole.ended([StreamCourse(3, 1001, 1901)]) == (StreamCourse(3, 1000, 1901),)


def test_begins_are_put_together() -> None:
    found = WholeStreams(parts()).put_together(
        [StreamCourse(3, 100, 900), StreamCourse(6, 90, None), StreamCourse(5, 95, 800)]
    )
    assert found == (StreamCourse(3, 90, None), StreamCourse(5, 95, 800))


def test_messages_of_begins_and_ends() -> None:
    assert begin_request({3: StreamBegin(500.0, 2.5), 5: StreamBegin(10.0)}) == {
        "request": "rates",
        "streams": [
            {"stream": 3, "rate_pps": 500.0, "begin": True, "duration_s": 2.5},
            {"stream": 5, "rate_pps": 10.0, "begin": True},
        ],
    }
    begun = [
        {"stream": 3, "begin_s": 0.5, "end_s": 3.0},
        {"stream": 5, "begin_s": 1, "end_s": None},
    ]
    found = read_begun({"begin_unix_ns": 10**18, "begun": begun})
    assert found.trial_unix_ns == 10**18
    assert found.streams == (
        StreamCourse(3, 10**18 + 500_000_000, 10**18 + 3 * 10**9),
        StreamCourse(5, 10**18 + 10**9, None),
    )
    assert read_ended({"begin_unix_ns": 10**18, "streams": begun[:1]}) == found.streams[:1]
