import pytest

from plimsoll.errors import InputError
from plimsoll.record.query import MetricQuery, Moment
from tests.worded.says import Says


@pytest.mark.parametrize(
    ("wrong", "where", "facts"),
    [
        ({"resolution": 0}, "--resolution", ("1", "10000")),
        ({"resolution": 10_001}, "--resolution", ("1", "10000")),
        ({"aggregation": "median"}, "--aggregation", ()),
        ({"over_time": "sum"}, "--over-time", ()),
    ],
)
def test_what_cannot_be_queried_is_reported(
    wrong: dict[str, object], where: str, facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(InputError) as caught:
        MetricQuery("mpstat", "Busy-CPU", **wrong)
    assert caught.value.where == where
    assert caught.value == says(*facts)


def test_the_time_in_question_is_the_measurement_or_a_part_of_it() -> None:
    assert MetricQuery("a", "b").time_range(1000, 5000) == (1000, 5000)
    part = MetricQuery("a", "b", begin=Moment(500, "begin"), end=Moment(-1000, "end"))
    assert part.time_range(1000, 5000) == (1500, 4000)
    assert MetricQuery("a", "b", begin=7, end=9).fixed_range == (7, 9)
    assert part.fixed_range is None


def test_a_time_that_ends_before_it_begins_is_an_error() -> None:
    query = MetricQuery("a", "b", begin=Moment(5000, "begin"))
    with pytest.raises(InputError) as caught:
        query.time_range(1000, 5000)
    error = caught.value
    assert error.where == "--begin, --end"
    assert "ends (1970-01-01 00:00:05 UTC) before it begins (1970-01-01 00:00:06 UTC)" in str(error)
    assert "measured was from 1970-01-01 00:00:01 UTC to 1970-01-01 00:00:05 UTC" in error.remedy


def test_a_fixed_time_that_ends_before_it_begins_tells_of_no_measurement(says: Says) -> None:
    with pytest.raises(InputError) as caught:
        _ = MetricQuery("a", "b", begin=9000, end=7000).fixed_range
    assert caught.value == says()


def test_windows_shorter_than_a_millisecond_are_an_error(says: Says) -> None:
    with pytest.raises(InputError) as caught:
        MetricQuery("a", "b", resolution=10).time_range(1, 10)
    assert caught.value == says("9", "10")
    assert caught.value.where == "--resolution"
