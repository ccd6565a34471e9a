import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import InputError
from plimsoll.record.query.metric_query import parse_moment
from plimsoll.terminal.options.run_selection import parse_since, parse_until
from tests.worded.says import Says

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
    assert parse_since(text, NOW, UTC) == since
    assert parse_until(text, NOW, UTC) == until


@pytest.fixture
def berlin() -> Iterator[None]:
    """This host's clock is Berlin's, as POSIX writes it: no list of zones is needed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("2026-11-20", ns(2026, 11, 19, 23), ns(2026, 11, 20, 23)),
        ("today", ns(2026, 11, 22, 23), ns(2026, 11, 23, 23)),
        ("2026-11-20T07:30", ns(2026, 11, 20, 6, 30), ns(2026, 11, 20, 6, 30)),
        ("2026-11-20T07:30Z", ns(2026, 11, 20, 7, 30), ns(2026, 11, 20, 7, 30)),
        ("2026-11-20T07:30-05:00", ns(2026, 11, 20, 12, 30), ns(2026, 11, 20, 12, 30)),
        ("2h", ns(2026, 11, 22, 21, 30), ns(2026, 11, 22, 21, 30)),
        # Clocks were put forward on 29 March 2026 and back on 25 October: 23 and 25 hours.
        ("2026-03-29", ns(2026, 3, 28, 23), ns(2026, 3, 29, 22)),
        ("2026-10-25", ns(2026, 10, 24, 22), ns(2026, 10, 25, 23)),
    ],
)
@pytest.mark.usefixtures("berlin")
def test_without_an_offset_they_are_in_the_hosts_time(text: str, since: int, until: int) -> None:
    assert parse_since(text, NOW, None) == since
    assert parse_until(text, NOW, None) == until


@pytest.mark.parametrize(
    "text", ["2026-11-20T07:30", "2026-11-20T07:30Z", "2026-11-20 07:30+02:00"]
)
@pytest.mark.usefixtures("berlin")
def test_a_moment_is_the_same_to_runs_and_to_metrics(text: str) -> None:
    for zone in (None, UTC):
        in_metrics = parse_moment(text, "--begin", zone).ms
        assert parse_since(text, NOW, zone) == in_metrics * 10**6


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "2026-02-30",
        "7 parsecs",
        "9999999d",
        "2026-11-20T25:00",
        "12",
        "2026-11-20+02:00",
    ],
)
def test_anything_else_is_refused(text: str, says: Says) -> None:
    for parse in (parse_since, parse_until):
        with pytest.raises(InputError) as caught:
            parse(text, NOW, UTC)
        assert caught.value == says("7d")
        assert "2026-11-22T07:30" in caught.value.remedy


def test_the_last_day_there_is_has_no_end() -> None:
    assert parse_since("9999-12-31", NOW, UTC) > 0
    with pytest.raises(InputError):
        parse_until("9999-12-31", NOW, UTC)


@given(st.text() | st.dates().map(str) | st.datetimes().map(str), st.sampled_from([None, UTC]))
def test_whatever_comes_is_a_time_or_refused(text: str, zone: timezone | None) -> None:
    try:
        since = parse_since(text, NOW, zone)
    except InputError:
        return
    assert isinstance(since, int)
