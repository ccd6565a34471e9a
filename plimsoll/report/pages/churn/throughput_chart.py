"""The streams' total throughput over each cell, a chart for each network, a line for each level."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import altair as alt

from plimsoll.benchmark.churn.joining.dips import RateOver
from plimsoll.benchmark.churn.joining.total import total_rates
from plimsoll.record.metrics.metrics import query_metrics
from plimsoll.record.results.churn_result import ChurnCell
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.figures.figure import Figure, records, y2_pixel, y_pixel
from plimsoll.report.figures.palette import series_scale
from plimsoll.report.figures.time_axis import Point, extremes
from plimsoll.text.slug import slug

_STEP_S = 1.0
_PHASE_COLOURS = {"delete": "#d9a441", "create": "#8fb8d8"}
_ROWS = (
    "SELECT names['pair'], begin_ms, end_ms, value FROM rows "
    "WHERE source = 'iperf3' AND type = 'rx-bps' ORDER BY begin_ms"
)


def throughput_figures(run: RunDirectory, cells: Sequence[ChurnCell]) -> tuple[Figure, ...]:
    """Of every network that has cells with streams. Raises RecordError."""
    networks = dict.fromkeys(cell.network for cell in cells if cell.streams)
    return tuple(
        _figure(run, network, [cell for cell in cells if cell.network == network])
        for network in networks
    )


def _figure(run: RunDirectory, network: str, cells: Sequence[ChurnCell]) -> Figure:
    series = {_name(cell, cells): list(_points(run, cell)) for cell in cells}
    kept = extremes(series)
    rows = [
        {"time": point.at_s, "rate": point.value, "level": name}
        for name, points in kept.series.items()
        for point in points
    ]
    title = f"Throughput over {network}"
    if not rows:
        return Figure(slug(title), title, "No stream has been recorded.", None)
    lines = (
        alt.Chart(records(rows))
        .mark_line(strokeWidth=1.6)
        .encode(
            x=alt.X("time:Q", title="time since the churn began (s)"),
            y=alt.Y("rate:Q", title="all pairs (Mbit/s)", scale=alt.Scale(zero=True)),
            color=alt.Color("level:N", scale=series_scale(list(series))),
            strokeDash=alt.StrokeDash("level:N", legend=None),
            tooltip=[
                alt.Tooltip("level:N"),
                alt.Tooltip("time:Q", title="s", format=".4~g"),
                alt.Tooltip("rate:Q", title="Mbit/s", format=".5~g"),
            ],
        )
    )
    caption = (
        "Payload received each second. Below: when the cell with the most churn deleted "
        "namespaces (amber) and made them again (blue)." + kept.remark()
    )
    bands = _bands(max(cells, key=lambda cell: cell.percent))
    layers = [*([] if bands is None else [bands]), lines]
    return Figure(slug(title), title, caption, alt.LayerChart(layer=layers))


def _bands(cell: ChurnCell) -> alt.Chart | None:
    rows = [
        {
            "begin": (phase.begin_unix_ns - cell.churn_begin_unix_ns) / 1e9,
            "end": (phase.end_unix_ns - cell.churn_begin_unix_ns) / 1e9,
            "colour": _PHASE_COLOURS[phase.kind],
        }
        for phase in cell.phases
    ]
    if not rows:
        return None
    chart: alt.Chart = (
        alt.Chart(records(rows))
        .mark_rect(opacity=0.28)
        .encode(
            x=alt.X("begin:Q"),
            x2=alt.X2("end:Q"),
            y=y_pixel(252),
            y2=y2_pixel(260),
            color=alt.Color("colour:N", scale=None),
        )
    )
    return chart


def _name(cell: ChurnCell, cells: Sequence[ChurnCell]) -> str:
    name = f"{cell.percent:g} %"
    again = sum(each.percent == cell.percent for each in cells) > 1
    return f"{name} ({cell.repetition})" if again else name


def _points(run: RunDirectory, cell: ChurnCell) -> Iterator[Point]:
    churn_ms = cell.churn_begin_unix_ns / 1e6
    by_pair: dict[str, list[RateOver]] = defaultdict(list)
    for pair, begin_ms, end_ms, bps in query_metrics(run, _ROWS, periods=[cell.period]):
        by_pair[pair].append(RateOver((begin_ms - churn_ms) / 1e3, (end_ms - churn_ms) / 1e3, bps))
    least_s = (cell.begin_unix_ns - cell.churn_begin_unix_ns) / 1e9
    for rate in total_rates(list(by_pair.values()), _STEP_S):
        if rate.begin_s >= least_s:
            yield Point(rate.begin_s, rate.bps / 1e6)
