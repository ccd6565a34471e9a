import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import altair as alt
import pytest
import vl_convert

from plimsoll.record.causes.spikes import Spike
from plimsoll.record.metrics.metrics import MetricRow
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.charts import charts, drawn_types
from plimsoll.report.charts.chart import Chart, PagePart
from plimsoll.report.charts.latency.latency_buckets import latency_buckets
from plimsoll.report.charts.latency.latency_distribution import latency_distribution
from plimsoll.report.charts.latency.latency_over_time import latency_over_time
from plimsoll.report.charts.lost_frames import lost_frames
from plimsoll.report.charts.polling_gaps import polling_gaps
from plimsoll.report.charts.rx_rate import rx_rate
from plimsoll.report.charts.search_path import search_path
from plimsoll.report.charts.stalls import stalls
from plimsoll.report.data.run_data import RunData, load_run
from plimsoll.report.figures.figure import Figure
from tests.unit.report.sample_run import STEPS
from tests.worded.says import Says

ROOT = Path(__file__).parents[3]
# Those of hosts and causes need a run that watched them.
OF_RUNS = [each for each in charts() if each.section not in ("hosts", "causes")]
HOURS = 3
SECONDS = HOURS * 3600


def rows(figure: Figure) -> list[dict[str, Any]]:
    """All rows a chart carries, of all its layers."""
    specification = figure.specification()
    assert specification is not None
    parts = [specification, *specification.get("layer", [])]
    inline = [part.get("data", {}).get("values", []) for part in parts]
    return [
        row for values in [*inline, *specification.get("datasets", {}).values()] for row in values
    ]


def channels(figure: Figure) -> dict[str, Any]:
    """The encoding of the chart, or of its first layer that has an x axis."""
    specification = figure.specification()
    assert specification is not None
    parts = [specification, *specification.get("layer", [])]
    return next(part["encoding"] for part in parts if "x" in part.get("encoding", {}))


@pytest.mark.parametrize("chart", OF_RUNS, ids=lambda chart: chart.draw.__name__)
def test_each_chart_is_sound_and_has_units_and_tooltips(
    cut_short: Callable[[int], RunData], chart: Chart
) -> None:
    # Of a run whose failed validation lost frames, so that every chart has something to show.
    figure = chart.draw(cut_short(11))
    specification = figure.specification()
    assert specification is not None
    assert figure.chart is not None
    figure.chart.to_dict(validate=True)
    assert vl_convert.vegalite_to_vega({**specification, "width": 400})
    encoding = channels(figure)
    assert encoding["x"]["title"]
    assert encoding["y"]["title"]
    assert "tooltip" in json.dumps(specification)
    assert "config" not in specification
    assert figure.caption.endswith(".")


@pytest.mark.parametrize("chart", OF_RUNS, ids=lambda chart: chart.draw.__name__)
def test_without_trials_each_chart_is_a_sentence(
    cut_short: Callable[[int], RunData], chart: Chart
) -> None:
    figure = chart.draw(cut_short(0))
    assert figure.chart is None
    assert figure.specification() is None
    assert figure.caption.startswith("No ")


def test_no_two_charts_have_the_same_place() -> None:
    places = [(each.section, each.order) for each in charts()]
    assert len(set(places)) == len(places)


@pytest.mark.parametrize("section", get_args(PagePart))
def test_each_section_shows_its_charts(section: PagePart) -> None:
    """A chart need not be named anywhere but in its own file."""
    page = "first = " if section == "first-screen" else f'charts["{section}"]'
    folder = ROOT / "plimsoll"
    source = folder / "methods/load_line/page.py"
    template = folder / "report/templates/load-line.html.j2"
    assert page in source.read_text() + template.read_text()


def test_a_chart_has_the_rows_of_the_types_that_it_says(
    finished_run: RunDirectory,
) -> None:
    """Without them it would say that nothing was recorded."""
    assert {row.type for row in load_run(finished_run, ("tx-pps",)).series} == {"tx-pps"}
    whole = load_run(finished_run, drawn_types())
    for types in {each.types for each in charts()}:
        own = load_run(finished_run, types)
        for chart in (each for each in charts() if each.types == types):
            assert chart.draw(own).specification() == chart.draw(whole).specification()


def test_names_of_charts_are_names_of_files(finished: RunData) -> None:
    names = [chart.draw(finished).name for chart in charts()]
    assert len(set(names)) == len(names)
    assert all(name.replace("-", "").isalnum() for name in names)


def test_the_received_rate_is_in_mpps_by_direction_next_to_the_load(finished: RunData) -> None:
    found = rows(rx_rate(finished))
    drawn = [row for row in found if "direction" in row]
    assert len(drawn) == 2 * STEPS[-1].seconds
    assert {row["direction"] for row in drawn} == {"port 0 → 1", "port 1 → 0"}
    assert drawn[0]["rate"] == pytest.approx(2.742188)
    assert [row["load"] for row in found if "load" in row] == [pytest.approx(2.7421875)]


def test_without_losses_the_page_says_so(finished: RunData, says: Says) -> None:
    figure = lost_frames(finished)
    assert figure.chart is None
    assert figure.caption == says("14", "2.742", "1m00s")


def test_losses_are_drawn_where_there_are_some(cut_short: Callable[[int], RunData]) -> None:
    found = rows(lost_frames(cut_short(11)))
    assert found
    assert all(row["lost"] > 0 for row in found)


def losing(data: RunData, frames: int) -> RunData:
    """The same, but for so many frames more that its focus trial lost."""
    assert data.focus is not None
    first, *others = data.focus.streams
    more = first.model_copy(update={"lost": first.lost + frames})
    return replace(data, focus=data.focus.model_copy(update={"streams": (more, *others)}))


@pytest.mark.parametrize(("frames", "facts"), [(1, ("1",)), (52_340, ("52,340",))])
def test_losses_that_no_interval_shows_are_reported(
    finished: RunData, frames: int, facts: tuple[str, ...], says: Says
) -> None:
    figure = lost_frames(losing(finished, frames))
    assert figure.chart is None
    assert figure.caption == says(*facts)


def test_a_chart_of_losses_tells_what_it_does_not_show(
    cut_short: Callable[[int], RunData], says: Says
) -> None:
    whole = cut_short(11)
    assert lost_frames(whole).caption == says()
    figure = lost_frames(losing(whole, 40_000))
    assert figure.chart is not None
    assert figure.caption == says("40,000")


def row_of(
    metric_type: str, names: dict[str, str], begin_ms: int, end_ms: int, value: float
) -> MetricRow:
    """A row as reports read it; nothing is drawn of what is the same in all of them."""
    return MetricRow(
        period="trial-0014",
        source="trafficgen",
        type=metric_type,
        metric_class="throughput",
        unit="pps",
        aggregation="sum",
        names=names,
        begin_ms=begin_ms,
        end_ms=end_ms,
        monotonic_ms=end_ms,
        count=None,
        value=value,
    )


def test_losses_that_show_in_the_drain_are_drawn(finished: RunData, says: Says) -> None:
    assert finished.focus is not None
    end_ms = finished.focus.begin_unix_ns // 10**6 + 60_000
    names = {"tx_port": "0", "rx_port": "1"}
    row = row_of("lost-rx-pps", names, end_ms, end_ms + 500, 24.0)
    figure = lost_frames(replace(losing(finished, 12), series=(row,)))
    assert [found["lost"] for found in rows(figure)] == [24.0]
    assert channels(figure)["x"]["scale"]["domain"] == [0, 60.5]
    assert figure.caption == says()


def test_the_rate_axis_says_so_when_it_does_not_start_at_zero(
    finished: RunData, says: Says
) -> None:
    figure = rx_rate(finished)
    assert figure.caption == says("14", "2.742", "1m00s")
    assert channels(figure)["x"]["scale"]["domain"] == [0, 60.0]


def test_the_rate_axis_of_a_standstill_starts_at_zero(finished: RunData) -> None:
    first, *others = (row for row in finished.series if row.type == "rx-pps")
    figure = rx_rate(replace(finished, series=(replace(first, value=0.0), *others)))
    assert "start at zero" not in figure.caption
    assert channels(figure)["y"]["scale"]["domain"][0] == 0


def labels(figure: Figure) -> list[str]:
    """All texts of the drawn chart."""
    drawn = vl_convert.vegalite_to_svg({**(figure.specification() or {}), "width": 400})
    return re.findall(r"<text[^>]*>([^<]*)</text>", drawn)


def repeated(data: RunData, times: int, load_pps: float) -> RunData:
    """A search of so many trials, all at one load."""
    trial = data.trials[-1]
    trials = [
        trial.model_copy(update={"number": 4 + n, "load_pps": load_pps}) for n in range(times)
    ]
    return replace(data, trials=tuple(trials), result=None)


def test_a_single_load_is_labelled_as_it_is(finished: RunData) -> None:
    figure = search_path(repeated(finished, 1, 400_000.0))
    assert channels(figure)["y"]["scale"]["domain"] == pytest.approx([0, 0.44])
    assert {"0", "0.4", "4"} <= set(labels(figure))


def test_small_loads_are_labelled_apart(finished: RunData) -> None:
    found = labels(search_path(repeated(finished, 2, 8000.0)))
    assert {"0.002", "0.004", "0.006", "0.008"} <= set(found)


@pytest.mark.parametrize(
    ("trials", "ticks"), [(1, [4]), (3, [4, 5, 6]), (20, [*range(4, 24)]), (41, [*range(4, 45, 3)])]
)
def test_ticks_of_the_search_path_are_trials(
    finished: RunData, trials: int, ticks: list[int]
) -> None:
    axis = channels(search_path(repeated(finished, trials, 1e6)))["x"]["axis"]
    assert (axis["values"], axis["format"]) == (ticks, "d")


def test_latency_quantiles_are_the_probes(finished: RunData) -> None:
    found = rows(latency_over_time(finished))
    assert {row["stream"] for row in found} == {"probe/0-1"}
    assert {row["quantile"] for row in found} == {"p50", "p99", "p99.9", "max"}
    assert len(found) == 4 * STEPS[-1].seconds


def test_the_distribution_ends_at_one_sample_of_all(finished: RunData) -> None:
    found = rows(latency_distribution(finished))
    assert finished.focus is not None
    lines = {str(row["stream"]) for row in found}
    for stream in finished.focus.streams:
        name = f"{stream.name} ({stream.role})"
        # Its stalls may have delayed some: two lines, each of all samples.
        delayed = stream.latency_low is not None
        assert (name in lines) is not delayed
        line = [r for r in found if r["stream"] == (f"{name}, at most" if delayed else name)]
        latency = stream.latency_ends[1]
        inverses = [row["inverse"] for row in line]
        assert inverses == sorted(inverses)
        # Numbers in a page have seven digits.
        assert inverses[-1] == pytest.approx(latency.count, rel=1e-6)
        assert line[-1]["percentile"] == 100
        # HdrHistogram knows the maximum to its bucket, 1/128.
        assert latency.max_ns is not None
        assert line[-1]["latency"] == pytest.approx(latency.max_ns / 1e3, rel=1 / 128)


def test_the_search_path_has_every_judged_trial_and_rings_validations(finished: RunData) -> None:
    found = rows(search_path(finished))
    path = {row["number"]: row["verdict"] for row in found if "verdict" in row}
    assert path == {n: step.verdict for n, step in enumerate(STEPS, 1) if step.verdict != "none"}
    assert [row["load"] for row in found if row.keys() == {"load"}] == [2.742188]


def test_stalls_are_drawn_over_the_whole_run(finished: RunData) -> None:
    found = rows(stalls(finished))
    assert {row["trial"] for row in found} == set(range(1, len(STEPS) + 1))
    assert max(row["length"] for row in found) == 88.0


def test_gaps_are_drawn_as_how_many_were_at_least_so_long(finished: RunData) -> None:
    assert finished.focus is not None
    (worker,) = finished.focus.workers
    found = rows(polling_gaps(finished))
    assert {row["loop"] for row in found} == {"CPU 1"}
    assert found[0]["gaps"] == worker.gaps.count
    # The shortest are 1200 ns long, in a bucket of 8 ns.
    assert found[0]["length"] == pytest.approx(1.2, rel=1 / 128)
    assert found[-1]["gaps"] == 1
    assert found[-1]["length"] == pytest.approx(7500, rel=1 / 128)


def test_each_microsecond_of_the_probes_is_a_bar(finished: RunData) -> None:
    assert finished.focus is not None
    found = rows(latency_buckets(finished))
    assert {row["stream"] for row in found} == {"probe/0-1 (constant)"}
    drawn = tuple((row["microseconds"], row["frames"]) for row in found)
    assert drawn == finished.focus.streams[2].latency_us
    assert all(row["end"] - row["begin"] == 1 for row in found)
    assert channels(latency_buckets(finished))["x"]["title"] == "latency (µs)"


def test_slow_probes_are_drawn_on_a_log_axis_and_one_in_flight_is_reported(
    finished: RunData,
    says: Says,
) -> None:
    assert finished.focus is not None
    slow = finished.focus.streams[2].model_copy(
        update={"latency_us": ((0, 5), (1000, 1)), "pacing": "one-in-flight"}
    )
    focus = finished.focus.model_copy(update={"streams": (slow,)})
    figure = latency_buckets(replace(finished, focus=focus))
    assert channels(figure)["x"]["title"] == "latency (µs, log)"
    # Zero has no place on it.
    assert [row["begin"] for row in rows(figure)] == [0.5, 1000]
    assert figure.caption == says("probe/0-1")


def long_series(data: RunData, metric_type: str, names: dict[str, str]) -> tuple[MetricRow, ...]:
    """Three hours of seconds, of which one, the 5000th, is ten times as bad."""
    assert data.focus is not None
    begin_ms = data.focus.begin_unix_ns // 10**6
    return tuple(
        row_of(
            metric_type,
            names,
            begin_ms + n * 1000,
            begin_ms + n * 1000 + 1000,
            1000.0 if n == 5000 else 100.0,
        )
        for n in range(SECONDS)
    )


def test_three_hours_stay_light_and_keep_their_spike(finished: RunData, says: Says) -> None:
    assert finished.focus is not None
    series = [
        row
        for quantile in ("p50", "p99", "p99.9", "max")
        for row in long_series(finished, f"{quantile}-round-trip-usec", {"stream": "probe/0-1"})
    ]
    focus = finished.focus.model_copy(update={"sending_s": float(SECONDS)})
    figure = latency_over_time(replace(finished, focus=focus, series=tuple(series)))
    found = rows(figure)
    assert len(found) <= 2_000 + 4
    assert {row["latency"] for row in found if row["quantile"] == "max"} == {100.0, 1000.0}
    assert figure.caption == says("22")
    assert "(min)" in channels(figure)["x"]["title"]


def test_of_very_many_stalls_the_longest_stay(finished: RunData, says: Says) -> None:
    many = tuple(
        Spike("stall", 1, float(n), float(n) + 1, n + 1, 1, None, None, "tester stall")
        for n in range(10_000)
    )
    figure = stalls(replace(finished, spikes=many))
    found = rows(figure)
    assert len(found) == 1500
    assert min(row["length"] for row in found) == pytest.approx(8501 / 1e6)
    assert figure.caption == says("8500")


def test_charts_need_no_global_setting_of_altair() -> None:
    assert alt.data_transformers.active == "default"
