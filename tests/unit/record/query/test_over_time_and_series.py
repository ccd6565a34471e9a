"""Windows and aggregation, against exact fractions worked out in plain Python."""

import tempfile
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.record.metrics.metrics import MetricRow
from plimsoll.record.query import MetricQuery, OverTime, ask, parse_breakouts
from plimsoll.record.samples.metric_type import Aggregation
from tests.unit.record.query.metric_runs import make_run, row, write_rows

Spans = list[tuple[int, int, int]]


def laid_out(lengths: Sequence[tuple[int, int, int]]) -> Spans:
    """Rows that follow one another with gaps between them: begin, end, value."""
    at, spans = 1000, []
    for gap, length, value in lengths:
        spans.append((at + gap, at + gap + length, value))
        at += gap + length
    return spans


# Gap before it, length, value in quarters.
spans = st.lists(
    st.tuples(st.sampled_from([0, 0, 0, 7, 400]), st.integers(1, 900), st.integers(-8, 40)),
    min_size=1,
    max_size=6,
).map(laid_out)


def of_one(series: Spans, begin: Fraction, end: Fraction, over_time: OverTime) -> Fraction | None:
    """One series within [begin, end)."""
    parts = [(min(e, end) - max(b, begin), Fraction(v, 4)) for b, e, v in series]
    parts = [(time, value) for time, value in parts if time > 0]
    if not parts:
        return None
    if over_time == "mean":
        return sum(t * v for t, v in parts) / sum(t for t, _ in parts)
    if over_time == "total":
        return sum((t * v for t, v in parts), Fraction()) / 1000
    return {"max": max, "min": min}[over_time](v for _, v in parts)


def of_all(
    all_series: Sequence[Spans], begin: Fraction, end: Fraction, over: OverTime, across: Aggregation
) -> Fraction | None:
    values = [v for s in all_series if (v := of_one(s, begin, end, over)) is not None]
    if not values:
        return None
    if across == "mean":
        return sum(values, Fraction()) / len(values)
    return {"sum": lambda v: sum(v, Fraction()), "max": max, "min": min}[across](values)


@settings(max_examples=25, deadline=None)
@given(
    groups=st.dictionaries(
        st.sampled_from("abc"), st.lists(spans, min_size=1, max_size=3), min_size=1
    ),
    begin=st.integers(900, 1500),
    length=st.integers(30, 3000),
    windows=st.sampled_from([1, 2, 3, 7, 30]),
    over_time=st.sampled_from(get_args(OverTime)),
    across=st.sampled_from(get_args(Aggregation)),
    overridden=st.booleans(),
)
def test_a_window_is_what_fractions_say(
    *,
    groups: dict[str, list[Spans]],
    begin: int,
    length: int,
    windows: int,
    over_time: OverTime,
    across: Aggregation,
    overridden: bool,
) -> None:
    own = "min" if overridden and across == "max" else "max" if overridden else across
    rows: list[MetricRow] = [
        row("s", "t", {"g": name, "n": str(n)}, v / 4, b, e, aggregation=own)
        for name, group in groups.items()
        for n, series in enumerate(group)
        for b, e, v in series
    ]
    # Some row must lie in the time, or there is nothing to say.
    rows.append(row("s", "t", {"g": "z"}, 0.0, begin, begin + length, aggregation=own))
    query = MetricQuery(
        "s",
        "t",
        begin=begin,
        end=begin + length,
        resolution=windows,
        breakouts=parse_breakouts("g"),
        aggregation=across if overridden else None,
        over_time=over_time,
    )
    with tempfile.TemporaryDirectory() as folder:
        run = make_run(Path(folder), "run")
        write_rows(run, "trial-0001", rows)
        found = {r.names: r for r in ask(run, query).rows}
    for name, group in groups.items():
        edges = [begin + Fraction(length * n, windows) for n in range(windows + 1)]
        expected = [of_all(group, b, e, over_time, across) for b, e in pairwise(edges)]
        whole = of_all(group, edges[0], edges[-1], over_time, across)
        if whole is None:
            assert (name,) not in found
            continue
        assert found[(name,)].whole == pytest.approx(float(whole), rel=1e-9, abs=1e-9)
        for value, exact in zip(found[(name,)].values, expected, strict=True):
            assert value == (None if exact is None else pytest.approx(float(exact), abs=1e-9))


def test_a_total_of_what_was_counted_is_exact(tmp_path: Path) -> None:
    """Times are rounded to ms: 1000 events in 999.6 ms are a rate that is 0.04 % too high."""
    counts = [1000, 3, 0, 123_457, 17]
    rows = [
        row("procstat", "interrupts-sec", {}, n / 0.9996, 1000 * k, 1000 * k + 1000, count=n)
        for k, n in enumerate(counts, start=1)
    ]
    run = make_run(tmp_path, "run")
    write_rows(run, "trial-0001", rows)
    for windows in (1, 5):
        query = MetricQuery("procstat", "interrupts-sec", over_time="total", resolution=windows)
        (found,) = ask(run, query).rows
        assert found.whole == sum(counts)
    assert found.values == tuple(counts)


def test_a_total_of_what_is_scaled_is_in_the_metrics_own_unit(tmp_path: Path) -> None:
    # 50 ticks of 10 ms in a second are half a CPU, over 2 s one CPU second.
    rows = [row("mpstat", "Busy-CPU", {}, 0.5, 1000 * k, 1000 * k + 1000, count=50) for k in (1, 2)]
    run = make_run(tmp_path, "run")
    write_rows(run, "trial-0001", rows)
    (found,) = ask(run, MetricQuery("mpstat", "Busy-CPU", over_time="total")).rows
    assert found.whole == pytest.approx(1.0)
