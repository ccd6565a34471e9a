"""What an observer tells becomes ticks: only what changed, and nothing twice."""

import json

from plimsoll.observe.reading.readings import Readings
from plimsoll.record.metrics.metric_log import MetricLog
from plimsoll.record.samples.metric_type import MetricType

S = 10**9
COUNTER = MetricType("s", "things-sec", "throughput", "1/s", "sum", counted=True, carried=True)
GAUGE = MetricType("s", "level", "count", "", "mean", carried=True)


def readings() -> Readings:
    return Readings("s", MetricLog("trial-0001", 0))


def values_of(of: Readings) -> dict[int, float | None]:
    """What the last line says, by series."""
    tick = json.loads(of.lines()[-1])
    return dict(zip(tick["numbers"], tick["values"], strict=True))


def read(of: Readings, at_s: int, **totals: int) -> dict[int, float | None]:
    of.begin(at_s * S)
    for name, total in totals.items():
        of.total(of.series(COUNTER, {"name": name}), total)
    return values_of(of) if at_s else {}


def begun(**totals: int) -> Readings:
    found = readings()
    read(found, 0, **totals)
    assert found.lines() == []
    return found


def test_the_first_reading_only_says_where_totals_stand() -> None:
    assert readings().lines() == []


def test_a_total_is_reported_as_what_was_counted_since() -> None:
    found = begun(a=1000, b=5)
    assert read(found, 1, a=1007, b=5) == {0: 7}
    assert read(found, 2, a=1007, b=6) == {1: 1}


def test_a_tick_lies_between_two_readings() -> None:
    found = begun(a=1)
    found.begin(3 * S)
    tick = json.loads(found.lines()[-1])
    assert (tick["begin_ns"], tick["end_ns"]) == (0, 3 * S)


def test_a_total_that_went_back_is_absent_and_then_reported_even_at_zero() -> None:
    found = begun(a=1000)
    assert read(found, 1, a=3) == {0: None}
    assert read(found, 2, a=3) == {0: 0}
    assert read(found, 3, a=3) == {}


def test_a_series_that_appears_has_no_count_before() -> None:
    found = begun(a=1)
    assert read(found, 1, a=1, late=50) == {}
    assert read(found, 2, a=1, late=52) == {1: 2}


def test_what_is_absent_is_reported_once_and_begins_anew() -> None:
    found = begun(a=10)
    series = found.series(COUNTER, {"name": "a"})
    for at_s, expected in ((1, {series: None}), (2, {})):
        found.begin(at_s * S)
        found.absent(series)
        assert values_of(found) == expected
    assert read(found, 3, a=4) == {}
    assert read(found, 4, a=4) == {series: 0}


def test_a_total_that_came_back_stands_at_zero_without_being_mentioned() -> None:
    """As of a network device that carries nothing: its line does not change."""
    found = begun(a=10)
    found.begin(1 * S)
    found.absent(0)
    assert values_of(found) == {0: None}
    assert read(found, 2) == {}
    assert read(found, 3, a=4) == {}
    assert read(found, 4) == {0: 0}
    assert read(found, 5) == {}
    assert read(found, 6, a=7) == {0: 3}


def test_a_value_is_reported_when_it_changes() -> None:
    found = readings()
    found.begin(0)
    assert found.lines() == []
    seen = []
    for at_s, value in enumerate((0.5, 0.5, 0.75), start=1):
        found.begin(at_s * S)
        found.value(found.series(GAUGE, {}), value)
        seen.append(values_of(found))
    assert seen == [{0: 0.5}, {}, {0: 0.75}]
