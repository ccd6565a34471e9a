from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.cli.moments import parse_since, parse_until
from plimsoll.errors import InputError

# In Berlin it is the 23rd already.
NOW = datetime(2026, 11, 23, 0, 30, tzinfo=timezone(timedelta(hours=1)))


def ns(*when: int) -> int:
    return round(datetime(*when, tzinfo=UTC).timestamp()) * 10**9  # type: ignore[arg-type,misc]


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("2026-11-20", ns(2026, 11, 20), ns(2026, 11, 21)),
        ("today", ns(2026, 11, 22), ns(2026, 11, 23)),
        (" Yesterday", ns(2026, 11, 21), ns(2026, 11, 22)),
        ("2024-02-29", ns(2024, 2, 29), ns(2024, 3, 1)),
        ("2026-11-20T07:30", ns(2026, 11, 20, 7, 30), ns(2026, 11, 20, 7, 30)),
        ("2026-11-20T07:30:05Z", ns(2026, 11, 20, 7, 30, 5), ns(2026, 11, 20, 7, 30, 5)),
        ("2026-11-20 07:30+02:00", ns(2026, 11, 20, 5, 30), ns(2026, 11, 20, 5, 30)),
        ("2h", ns(2026, 11, 22, 21, 30), ns(2026, 11, 22, 21, 30)),
        ("7d", ns(2026, 11, 15, 23, 30), ns(2026, 11, 15, 23, 30)),
    ],
)
def test_days_moments_and_how_long_ago(text: str, since: int, until: int) -> None:
    assert parse_since(text, NOW) == since
    assert parse_until(text, NOW) == until


@pytest.mark.parametrize(
    "text", ["", "soon", "2026-02-30", "7 parsecs", "9999999d", "2026-11-20T25:00", "12"]
)
def test_anything_else_is_refused(text: str) -> None:
    for parse in (parse_since, parse_until):
        with pytest.raises(InputError, match="is no day and no moment") as caught:
            parse(text, NOW)
        assert "2026-11-22T07:30" in caught.value.remedy


def test_the_last_day_there_is_has_no_end() -> None:
    assert parse_since("9999-12-31", NOW) > 0
    with pytest.raises(InputError):
        parse_until("9999-12-31", NOW)


@given(st.text())
def test_whatever_comes_is_a_time_or_refused(text: str) -> None:
    try:
        since = parse_since(text, NOW)
    except InputError:
        return
    assert isinstance(since, int)
