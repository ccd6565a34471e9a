from datetime import UTC, timedelta, timezone

import pytest

from plimsoll.errors import InputError
from plimsoll.record.query.metric_query import Moment, parse_moment
from tests.worded.says import Says

EAST = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1765526025254", Moment(1_765_526_025_254)),
        ("+30", Moment(30_000, "begin")),
        ("+1.5s", Moment(1500, "begin")),
        ("-0.25", Moment(-250, "end")),
        ("-0", Moment(0, "end")),
        ("2025-12-12T07:53:45Z", Moment(1_765_526_025_000)),
        ("2025-12-12 07:53:45.254Z", Moment(1_765_526_025_254)),
        # Without a zone of its own it is in that of the table: two hours east of UTC.
        ("2025-12-12T09:53:45", Moment(1_765_526_025_000)),
        ("2025-12-12T07:53:45+00:00", Moment(1_765_526_025_000)),
        ("2025-12-12", Moment(1_765_490_400_000)),
    ],
)
def test_the_ways_to_write_a_moment(text: str, expected: Moment) -> None:
    assert parse_moment(text, "--begin", EAST) == expected


def test_a_date_without_a_zone_is_in_utc_when_that_is_requested() -> None:
    assert parse_moment("1970-01-02", "--begin", UTC) == Moment(86_400_000)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "+",
        "-x",
        "12:30",
        "1e9",
        "+1e9",
        "9" * 16,
        "²",
        "2025-12-12+02:00",
        "2025-12-12-05",
    ],
)
def test_what_is_no_time_is_reported_with_its_remedy(text: str, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        parse_moment(text, "--end")
    assert caught.value == says("+30")
    assert caught.value.where == "--end"


def test_moments_are_counted_from_a_period() -> None:
    assert Moment(5000).at(100, 900) == 5000
    assert Moment(50, "begin").at(100, 900) == 150
    assert Moment(-50, "end").at(100, 900) == 850
