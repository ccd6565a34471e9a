"""Codes that open once and for a while, and sessions that end when they are not used."""

import pytest

from plimsoll.web.security.access import EntryCodes, Sessions

QUARTER_HOUR_S, WEEK_S = 900, 7 * 86400


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_code_opens_once(clock: Clock) -> None:
    codes = EntryCodes(clock)
    code = codes.make()
    assert codes.take(code)
    assert not codes.take(code)


def test_a_code_opens_for_a_quarter_of_an_hour(clock: Clock) -> None:
    codes = EntryCodes(clock)
    early, late = codes.make(), codes.make()
    clock.now += QUARTER_HOUR_S - 1
    assert codes.take(early)
    clock.now += 1
    assert not codes.take(late)


@pytest.mark.parametrize("given", ["", "wrong", "\udcff", "é"])
def test_what_is_no_code_opens_nothing_and_spoils_none(clock: Clock, given: str) -> None:
    codes = EntryCodes(clock)
    assert not codes.take(given)
    code = codes.make()
    assert not codes.take(given)
    assert not codes.take(code[:-1])
    assert codes.take(code)


def test_one_code_leaves_the_others(clock: Clock) -> None:
    codes = EntryCodes(clock)
    first, second = codes.make(), codes.make()
    assert first != second
    assert codes.take(second)
    assert codes.take(first)


def test_a_session_is_known_by_its_id_alone(clock: Clock) -> None:
    sessions = Sessions(clock)
    first, second = sessions.begin(), sessions.begin()
    assert first != second
    assert sessions.has(first)
    assert sessions.has(second)
    for given in ("", first[:-1], first + "x", "\udcff"):
        assert not sessions.has(given)


def test_a_session_ends_a_week_after_its_last_use(clock: Clock) -> None:
    sessions = Sessions(clock)
    session = sessions.begin()
    clock.now += WEEK_S
    assert sessions.has(session)
    clock.now += WEEK_S
    assert sessions.has(session)
    clock.now += WEEK_S + 1
    assert not sessions.has(session)
    assert not sessions.has(session)


def test_of_too_many_sessions_those_unused_for_longest_end(clock: Clock) -> None:
    sessions = Sessions(clock)
    first, second = sessions.begin(), sessions.begin()
    assert sessions.has(first)
    for _ in range(999):
        sessions.begin()
    assert sessions.has(first)
    assert not sessions.has(second)
