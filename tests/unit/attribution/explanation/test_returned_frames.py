"""Lost frames that came back corrupt, on a wrong port or cut short."""

import pytest

from plimsoll.attribution.explanation.returned_frames import (
    StreamLosses,
    shared_truncated,
    with_returned,
)
from plimsoll.attribution.explanation.sentence import sentence
from plimsoll.attribution.incidents.incident import Explanation
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


def test_frames_cut_short_explain_what_nothing_else_does_and_are_not_sure_to_be_ours() -> None:
    seen = explained(loss(0, 4 * MS, 16), visit(0, 4 * MS, DUT, 812, "java"))
    events = [seen, unexplained(10, 1), unexplained(20, 2)]
    found = with_returned(events, {STREAM: StreamLosses(lost=19, truncated=19)})
    assert found[0] == seen
    assert kinds(found[1:]) == [("truncated", "partial")] * 2


def test_beside_corrupt_frames_they_have_what_is_left() -> None:
    events = [unexplained(10, 1), unexplained(20, 1), unexplained(30, 1)]
    losses = StreamLosses(lost=3, corrupt=1, truncated=1)
    found = with_returned(events, {STREAM: losses})
    assert sorted(kind for kind, _ in kinds(found)) == ["corrupt", "truncated", "unexplained"]


@pytest.mark.parametrize(
    ("lost", "truncated", "expected"),
    [
        # One stream alone lost frames: they are its own.
        ((20, 0), 16, (16, 0)),
        # No more are missing than were cut short.
        ((10, 6), 16, (10, 6)),
        ((10, 6), 40, (10, 6)),
        # Whose 16 of 17 nobody can tell.
        ((10, 7), 16, (0, 0)),
        ((10, 7), 0, (0, 0)),
    ],
)
def test_whose_frames_were_cut_short_is_said_where_it_is_known(
    lost: tuple[int, int], truncated: int, expected: tuple[int, int]
) -> None:
    found = shared_truncated([StreamLosses(each) for each in lost], truncated)
    assert tuple(each.truncated for each in found) == expected


def test_what_came_back_corrupt_was_not_cut_short() -> None:
    (found,) = shared_truncated([StreamLosses(lost=5, corrupt=3)], 9)
    assert found.truncated == 2


@pytest.mark.parametrize(
    "losses",
    [StreamLosses(1, corrupt=1), StreamLosses(1, misdirected=1), StreamLosses(1, truncated=1)],
    ids=["corrupt", "misdirected", "truncated"],
)
def test_no_cpu_and_no_queue_is_blamed_for_them(losses: StreamLosses) -> None:
    (found,) = with_returned([unexplained(10, 1)], {STREAM: losses})
    said = sentence(found, ())
    assert said == f"loss of 1 frame of {STREAM}: {found.causes[0].name}"
