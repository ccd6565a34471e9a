"""A run of latency at load, as its page and the terminal show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import altair as alt

from plimsoll.methods.latency_at_load.result import (
    POINT,
    LatencyAtLoadResult,
    LoadPoint,
    RateFrom,
    StreamLatency,
)
from plimsoll.record.run.journal import JournalContents, read_journal
from plimsoll.record.run.result_file import read_run_result
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.latency_record import slowest_between
from plimsoll.report.data.times import LATENCY_COLUMNS, bounded_cells, latency_columns
from plimsoll.report.figures.figure import QUANTILE_COLOURS, Figure, records
from plimsoll.report.figures.table import (
    Cell,
    ReportTable,
    count,
    number,
    pps,
    sentence,
    text,
)
from plimsoll.report.figures.value_axis import CHARTED_QUANTILES, log_axis, quantile_ends
from plimsoll.report.pages.standard.page import AnsweringTrials, standard_page
from plimsoll.report.pages.standard.sections import (
    NO_FIGURE,
    KeyFigure,
    PageAnswer,
    PageSection,
)
from plimsoll.report.parts.page import Page
from plimsoll.text.units import format_duration, format_ns_between, format_number, format_pps
from plimsoll.traffic.plan import Role

_FROM: dict[RateFrom, str] = {
    "given": "as given",
    "run": "the load line of another run",
    "search": "found by the search of this run",
}
_NAME, _TITLE = "latency-by-load", "Latency by load"
_CAPTION = "Of valid trials; a direction has dashes of its own."
_OF_ENDS = (
    "Lines are the most that the DUT took; a bar reaches down to the least, where stalls of the "
    "tester leave it open."
)


def run_page(run: RunDirectory) -> Page:
    """The page of a run in any state. Raises RecordError when the record is damaged."""
    journal = read_journal(run.journal)
    return standard_page(run, journal, latency_at_load_answer(run), _trials_of_points(journal))


def latency_at_load_answer(run: RunDirectory) -> PageAnswer:
    """What the run has found, finished or not. Raises RecordError."""
    journal = read_journal(run.journal)
    result = read_run_result(run, LatencyAtLoadResult)
    points = result.points if result else _points_so_far(journal)
    return PageAnswer(
        heading=_heading(result),
        sentences=tuple(_sentences(result)),
        warnings=tuple(_warnings(result, points)),
        sections=(
            PageSection("Probes", (), (_table(points, "latency"),), (latency_by_load(points),)),
            PageSection(
                "Load frames",
                ("Load frames carry time, too; those that are due together go out together.",),
                (_table(points, "load"),),
            ),
        ),
        figure=_figure(points),
    )


def _figure(points: Sequence[LoadPoint]) -> KeyFigure:
    """The p99 of the slowest probe at the highest load, and at each lower one."""
    ordered = sorted(points, key=lambda point: -point.percent)
    found = [(point, p99) for point in ordered if (p99 := _p99(point))]
    if not found:
        return NO_FIGURE
    (first, p99), *others = found
    value, _, unit = format_ns_between(*p99).rpartition(" ")
    facts = tuple((format_ns_between(*each), f"p99, {_share(point)}") for point, each in others)
    return KeyFigure(value, f"{unit} p99 at {_share(first)}", facts)


def _p99(point: LoadPoint) -> tuple[int, int] | None:
    return slowest_between((s for s in point.streams if s.role == "latency"), "p99_ns")


def _trials_of_points(journal: JournalContents) -> AnsweringTrials:
    trials = {trial.number: trial for trial in journal.trials()}
    points = sorted(_points_so_far(journal), key=lambda point: -point.percent)
    return AnsweringTrials(
        said="During the trial of each load, the highest first.",
        by_answer={_share(each): trials[each.trial] for each in points if each.trial in trials},
    )


def _share(point: LoadPoint) -> str:
    return (
        "Probes alone" if point.load_pps == 0 else f"{format_number(point.percent)} % of the rate"
    )


def _heading(result: LatencyAtLoadResult | None) -> str:
    if result is None:
        return "Latency at load"
    if result.rate_pps is None:
        return "Latency at load: no rate was found to take shares of"
    return f"Latency at shares of {format_pps(result.rate_pps)} per direction"


def _sentences(result: LatencyAtLoadResult | None) -> Iterator[str]:
    if result is None:
        return
    yield f"The rate is {_FROM[result.rate_from]}. Media: {result.media}."
    if result.reason:
        yield result.reason
    yield from result.notes


def _warnings(result: LatencyAtLoadResult | None, points: Sequence[LoadPoint]) -> Iterator[str]:
    if result is not None and result.quick and points:
        yield f"Quick preset: trials of {format_duration(points[0].sending_s)} instead of a minute."
    for point in points:
        if point.verdict == "invalid":
            yield f"The tester was at fault at {point.percent:g} %: {point.reason}."


def _table(points: Sequence[LoadPoint], role: Role) -> ReportTable:
    columns = (
        number("rate_percent", "% of the rate"),
        pps("intended_pps", "Intended"),
        pps("offered_pps", "Offered"),
        text("stream", "Stream"),
        count("samples", "Samples"),
        *latency_columns(LATENCY_COLUMNS),
        count("lost_frames", "Lost"),
        count("across_stalls_samples", "Across tester stalls"),
        text("verdict", "Tester"),
        sentence("remark", "Remark"),
    )
    rows = tuple(
        (
            point.percent,
            Cell((point.load_pps,), None if point.load_pps else "probes alone"),
            point.offered_pps,
            stream.name,
            stream.latency_ends[1].count,
            *bounded_cells(stream, LATENCY_COLUMNS),
            stream.lost,
            stream.across_stalls,
            Cell((point.verdict,), "fit" if point.verdict == "pass" else None),
            point.reason or "",
        )
        for point in points
        for stream in point.streams
        if stream.role == role
    )
    return ReportTable("probes" if role == "latency" else "load-frames", columns, rows)


def _points_so_far(journal: JournalContents) -> tuple[LoadPoint, ...]:
    """Of a point recorded twice, the last."""
    said = [LoadPoint.model_validate(e.fields.get("point")) for e in journal.of_kind(POINT)]
    return tuple({point.percent: point for point in said}.values())


# Latency quantiles of the probes by load.
def latency_by_load(points: Sequence[LoadPoint]) -> Figure:
    """Percent of the rate against latency: a colour for each quantile, a dash for each probe."""
    rows = [*_rows(points)]
    if not rows:
        return Figure(_NAME, _TITLE, "No probe has come back yet.", None)
    names = list(dict.fromkeys(str(row["stream"]) for row in rows))
    latencies = [float(str(row["latency"])) for row in rows]
    base = alt.Chart(records(rows)).encode(
        x=alt.X(
            "percent:Q", title="load (% of the rate)", scale=alt.Scale(domainMin=0, nice=False)
        ),
        y=log_axis("latency", "latency (µs, log)", [*latencies, *_lows(rows)]),
        color=alt.Color(
            "quantile:N", scale=alt.Scale(domain=[*CHARTED_QUANTILES], range=[*QUANTILE_COLOURS])
        ),
        tooltip=[
            alt.Tooltip("stream:N"),
            alt.Tooltip("quantile:N"),
            alt.Tooltip("percent:Q", title="% of the rate", format=".4~f"),
            alt.Tooltip("low:Q", title="at least (µs)", format=".4~f"),
            alt.Tooltip("latency:Q", title="at most (µs)", format=".4~f"),
        ],
    )
    line = base.mark_line(point=alt.OverlayMarkDef(size=60)).encode(
        strokeDash=alt.StrokeDash("stream:N", scale=alt.Scale(domain=names))
    )
    if latencies == _lows(rows):
        return Figure(_NAME, _TITLE, _CAPTION, line)
    # Down to the low end: no bar where both are the same.
    bars = base.mark_rule(strokeWidth=3, opacity=0.4).encode(y2=alt.Y2("low:Q"))
    return Figure(_NAME, _TITLE, f"{_CAPTION} {_OF_ENDS}", alt.LayerChart(layer=[bars, line]))


def _lows(rows: Sequence[dict[str, object]]) -> list[float]:
    return [float(str(row["low"])) for row in rows]


def _rows(points: Sequence[LoadPoint]) -> Iterator[dict[str, object]]:
    for point in points:
        for stream in point.streams if point.verdict != "invalid" else ():
            if stream.role == "latency":
                yield from _quantiles(point, stream)


def _quantiles(point: LoadPoint, stream: StreamLatency) -> Iterator[dict[str, object]]:
    for row in quantile_ends(stream.latency_ends):
        yield row | {"stream": stream.name, "percent": point.percent}
