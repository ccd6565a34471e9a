import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.report.figures.time_axis import Point, TimeAxis, extremes, thinned
from tests.worded.says import Says

SERIES = st.dictionaries(
    st.text("abc", min_size=1, max_size=3),
    st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=60),
    min_size=1,
    max_size=4,
)


@pytest.mark.parametrize(
    ("length_s", "unit", "divisor"),
    [(1.0, "s", 1.0), (600.0, "s", 1.0), (601.0, "min", 60.0), (10_801.0, "h", 3600.0)],
)
def test_time_is_shown_in_the_unit_of_its_length(
    length_s: float, unit: str, divisor: float
) -> None:
    assert TimeAxis.over(length_s) == TimeAxis(unit, divisor, length_s)


@given(SERIES, st.integers(1, 50))
def test_thinning_keeps_the_worst_of_every_series(
    values: dict[str, list[float]], limit: int
) -> None:
    series = {name: [Point(float(n), v) for n, v in enumerate(vs)] for name, vs in values.items()}
    kept = thinned(series, max, limit)
    assert kept.series.keys() == series.keys()
    for name, found in values.items():
        assert max(point.value for point in kept.series[name]) == max(found)
        assert len(kept.series[name]) <= len(found)
    # Each series may end in a group that is not full.
    assert sum(len(points) for points in kept.series.values()) <= limit + len(values)


def test_a_short_series_stays_as_it_is_and_says_nothing() -> None:
    series = {"a": [Point(0.0, 1.0), Point(1.0, 2.0)]}
    kept = thinned(series, max, 2)
    assert kept.series == series
    assert kept.remark() == ""


def test_a_long_series_says_what_a_point_stands_for(says: Says) -> None:
    kept = thinned({"a": [Point(float(n), -float(n)) for n in range(10)]}, min, 5)
    assert kept.series["a"] == [Point(float(n), -float(n + 1)) for n in range(0, 10, 2)]
    assert kept.remark() == says("2")


@given(SERIES, st.integers(2, 50))
def test_extremes_keep_the_least_and_the_greatest_by_time(
    values: dict[str, list[float]], limit: int
) -> None:
    series = {name: [Point(float(n), v) for n, v in enumerate(vs)] for name, vs in values.items()}
    kept = extremes(series, limit)
    for name, found in values.items():
        points = kept.series[name]
        assert {min(found), max(found)} <= {point.value for point in points}
        assert [point.at_s for point in points] == sorted(point.at_s for point in points)
        assert set(points) <= set(series[name])
    # Each series may end in a group that is not full, of which two points are drawn.
    assert sum(map(len, kept.series.values())) <= limit + 2 * len(values)


def test_reduced_extremes_say_so(says: Says) -> None:
    points = [Point(float(n), float(n % 7)) for n in range(100)]
    remark = extremes({"a": points}, 20).remark()
    assert remark == says("10")
