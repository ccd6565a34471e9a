"""Lost frames that came back corrupt or on a wrong port."""

import pytest

from plimsoll.attribution.explanation.returned_frames import StreamLosses, with_returned
from plimsoll.attribution.incidents.cause import Explanation
from tests.unit.attribution.traces import DUT, MS, explained, loss, visit

STREAM = "load/0-1"


def unexplained(at_ms: int, frames: int) -> Explanation:
    found = explained(loss(at_ms * MS, at_ms * MS + 1000, frames), [])
    assert [each.kind for each in found.causes] == ["unexplained"]
    return found


def kinds(found: tuple[Explanation, ...]) -> list[tuple[str, str]]:
    return [(each.causes[0].kind, each.causes[0].confidence) for each in found]


@pytest.mark.parametrize(
    ("losses", "kind"),
    [
        (StreamLosses(lost=6, corrupt=6), "corrupt"),
        (StreamLosses(lost=6, misdirected=6), "misdirected"),
    ],
)
def test_where_all_came_back_nothing_is_unexplained(losses: StreamLosses, kind: str) -> None:
    found = with_returned([unexplained(10, 5), unexplained(20, 1)], {STREAM: losses})
    assert kinds(found) == [(kind, "exact")] * 2


def test_where_some_came_back_the_smallest_unexplained_events_are_theirs() -> None:
    events = [unexplained(10, 400), unexplained(20, 1), unexplained(30, 1), unexplained(40, 2)]
    found = with_returned(events, {STREAM: StreamLosses(lost=404, corrupt=3)})
    assert kinds(found) == [
        ("unexplained", "unexplained"),
        ("corrupt", "partial"),
        ("corrupt", "partial"),
        ("unexplained", "unexplained"),
    ]


def test_what_was_seen_to_be_lost_by_another_cause_stays() -> None:
    seen = explained(loss(0, 4 * MS, 1), visit(0, 4 * MS, DUT, 812, "java"))
    found = with_returned([seen], {STREAM: StreamLosses(lost=3, corrupt=2)})
    assert found == (seen,)


def test_other_streams_and_streams_without_such_frames_stay() -> None:
    event = unexplained(10, 5)
    others = {"probe/0-1": StreamLosses(5, 5), STREAM: StreamLosses(5)}
    assert with_returned([event], others) == (event,)
