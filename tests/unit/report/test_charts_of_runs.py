"""The charts of pages about many runs: sound, with units, and of the right values."""

import math
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import vl_convert

from plimsoll.analysis.comparison.comparison import (
    Comparison,
    FigureComparison,
    SideFigure,
)
from plimsoll.analysis.comparison.conclude import FigureSample, conclude, shift
from plimsoll.analysis.comparison.side import Side
from plimsoll.analysis.comparison.trend.trend import FigureTrend, LevelChange
from plimsoll.record.index.run_entry import entry_of
from plimsoll.report.data.sides import OwnedCpus, side_latency
from plimsoll.report.figures.figure import Figure
from plimsoll.report.figures.value_axis import ValueAxis
from plimsoll.report.pages.comparison.difference_chart import difference_chart, value_chart
from plimsoll.report.pages.comparison.difference_grid import difference_grid, fact_grid
from plimsoll.report.pages.comparison.side_charts import (
    busy_chart,
    interrupt_chart,
    side_ccdf,
    side_percentiles,
)
from plimsoll.report.pages.trend.page import figure_chart
from tests.unit.record.index.run_dirs import make_run
from tests.unit.report.sample_run import write_sample_run

OLD = (12_000.0, 12_200.0, 11_900.0, 12_100.0)
NEW = (14_000.0, 14_100.0, 13_900.0, 14_200.0)
SIDES = (Side("old", (), ("6.1", "e810")), Side("new", (), ("6.12", "e810")))
P999 = FigureComparison(
    "p99.9 latency",
    "ns",
    "lower",
    (SideFigure(OLD), SideFigure(NEW)),
    (shift(OLD, NEW),),
    ("worse",),
    (conclude(FigureSample(OLD), FigureSample(NEW), "lower", 0.01),),
)
FOUND = Comparison(SIDES, (), (P999,))
STATES = {"user": 0.98, "system": 0.01, "interrupts": 0.01}
HOSTS = {
    "old": [OwnedCpus("a", "DUT", STATES, 110.0), OwnedCpus("b", "DUT", STATES, 130.0)],
    "new": [OwnedCpus("c", "DUT", STATES, None)],
}


def trend_figure(tmp_path: Path) -> Figure:
    run = entry_of("r", make_run(tmp_path, "r"))
    change = LevelChange(2, 0.0002, shift(OLD, NEW), 12_050.0, 14_050.0, "worse", run)
    values = (OLD[:2], OLD[2:], NEW[:2], NEW[2:])
    releases = [Side(f"4.{n}", ()) for n in range(8, 12)]
    figure = FigureTrend("p99.9 latency", "ns", "lower", values, (change,))
    return figure_chart("trend", figure, releases)


def rows(figure: Figure) -> list[dict[str, Any]]:
    specification = figure.specification()
    assert specification is not None

    def inline(part: dict[str, Any]) -> list[dict[str, Any]]:
        below = chain.from_iterable(inline(each) for each in part.get("layer", ()))
        return [*part.get("data", {}).get("values", ()), *below]

    known = chain.from_iterable(specification.get("datasets", {}).values())
    return [*inline(specification), *known]


@pytest.fixture
def all_figures(tmp_path: Path) -> list[Figure]:
    run = write_sample_run(tmp_path / "runs")
    sample = side_latency(Side("old", (entry_of(run.run_id, run.path),)))
    assert sample is not None
    return [
        trend_figure(tmp_path),
        value_chart("values", P999, SIDES),
        difference_chart(FOUND),
        difference_grid(FOUND),
        fact_grid("grid", P999, SIDES, ("kernel", "nic")),
        side_ccdf([sample]),
        side_percentiles([sample]),
        busy_chart(HOSTS),
        interrupt_chart(HOSTS),
    ]


def test_each_chart_is_sound(all_figures: list[Figure]) -> None:
    for figure in all_figures:
        assert figure.chart is not None, figure.name
        figure.chart.to_dict(validate=True)
        specification = figure.specification()
        assert vl_convert.vegalite_to_vega({**(specification or {}), "width": 400})
        assert figure.caption.endswith("."), figure.name
    assert len({figure.name for figure in all_figures}) == len(all_figures)


def test_a_trend_has_a_point_a_run_and_a_line_at_each_level(tmp_path: Path) -> None:
    found = rows(trend_figure(tmp_path))
    values = [row["value"] for row in found if row.get("level") == "worse than before"]
    # Microseconds; of each of the two releases the median of all four, then the four runs.
    assert sorted(values) == [13.9, 14.0, 14.05, 14.05, 14.1, 14.2]
    # 2.0 µs more than 12.05 µs.
    assert [(row["release"], row["size"]) for row in found if "size" in row] == [
        ("4.10", "+16.60 %")
    ]


def test_differences_are_shares_of_the_baseline() -> None:
    # Each layer has the one row.
    row, *_ = [row for row in rows(difference_chart(FOUND)) if "estimate" in row]
    # The middle two of the 16 ratios are 14.1 / 12.1 and 14.0 / 12.0.
    assert row["estimate"] == pytest.approx(math.sqrt(14.1 / 12.1 * 14.0 / 12.0) - 1, rel=1e-6)
    # Four and four bound it by the least and the greatest of all ratios.
    assert row["least"] == pytest.approx(13.9 / 12.2 - 1, rel=1e-6)
    assert row["most"] == pytest.approx(14.2 / 11.9 - 1, rel=1e-6)


def test_a_longer_latency_is_drawn_as_the_worse() -> None:
    (row,) = rows(difference_grid(FOUND))[:1]
    assert row["gain"] < 0
    assert row["short"] == "▼ +16.60 %"


def test_hosts_without_interrupts_have_a_bar_and_no_point() -> None:
    assert {row["cpus"] for row in rows(busy_chart(HOSTS))} == {"DUT · old", "DUT · new"}
    points = [row["rate"] for row in rows(interrupt_chart(HOSTS))]
    # Two runs and their median.
    assert sorted(points) == [110, 120, 130]


@pytest.mark.slow
def test_samples_of_a_side_are_those_of_all_its_runs(tmp_path: Path) -> None:
    runs = [write_sample_run(tmp_path / "runs", name=name) for name in ("a", "b")]
    entries = [entry_of(run.run_id, run.path) for run in runs]
    one, both = side_latency(Side("one", (entries[0],))), side_latency(Side("both", tuple(entries)))
    assert one is not None
    assert both is not None
    assert both.together.get_total_count() == 2 * one.together.get_total_count()
    assert one.runs[0].histogram.get_total_count() == one.together.get_total_count()


@pytest.mark.parametrize(
    ("values", "unit", "shown"),
    [
        ([3.0e6, 1e3], "pps per direction", ("Mpps per direction", 1e6)),
        ([12_000.0], "ns", ("µs", 1e3)),
        ([1e-5], "ratio", ("%", 0.01)),
        ([0.0], "ns", ("ns", 1.0)),
        ([5.0], "frames", ("frames", 1.0)),
    ],
)
def test_units_suit_the_values(values: list[float], unit: str, shown: tuple[str, float]) -> None:
    axis = ValueAxis.over(values, unit)
    assert (axis.unit, axis.divisor) == shown
