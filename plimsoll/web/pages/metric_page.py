"""The metric explorer: what there is, the answer as a chart and a table, and where to go next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import altair as alt

from plimsoll.errors import PlimsollError
from plimsoll.record.query import AnswerRow, QueryAnswer, ask
from plimsoll.record.query.contents import MetricContents, metric_contents
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.figures.figure import Figure, records, series_scale
from plimsoll.report.figures.time_axis import TimeAxis
from plimsoll.text.plain_text import plain_text
from plimsoll.text.units import format_number
from plimsoll.web.pages.metric_address import MetricAddress

# More lines than that tell nothing; the table has them all.
_MAX_LINES = 12
_MS_PER_S = 1e3
_CHART = "metric"


@dataclass(frozen=True, slots=True)
class QuestionLink:
    """A link to another question."""

    text: str
    href: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class MetricLine:
    """A row of the answer. `names` are links to that value alone, or plain where there is none."""

    run: str
    names: tuple[QuestionLink, ...]
    series: int
    drawn: str
    whole: str
    least: str
    most: str


@dataclass(frozen=True, slots=True)
class MetricPage:
    """`groups` are the metrics by source; without an answer it says why in `mistake`."""

    address: MetricAddress
    groups: Mapping[str, Sequence[QuestionLink]]
    answer: QueryAnswer | None
    mistake: PlimsollError | None
    lines: tuple[MetricLine, ...]
    chosen: tuple[QuestionLink, ...]
    further: tuple[QuestionLink, ...]
    notes: tuple[str, ...]
    figure: Figure | None


def metric_page(runs: Sequence[RunDirectory], address: MetricAddress) -> MetricPage:
    """The page; a question that cannot be answered is answered by its mistake."""
    groups: dict[str, list[QuestionLink]] = {}
    answer, mistake = None, None
    try:
        contents, failures = metric_contents(runs, address.period)
        for each in contents:
            groups.setdefault(each.source, []).append(_metric_step(address, each))
        notes = [str(failure.error) for failure in failures]
    except PlimsollError as error:
        mistake, notes = error, []
    if mistake is None and address.source and address.type:
        try:
            answer = ask(runs, address.query())
        except PlimsollError as error:
            mistake = error
    return MetricPage(
        address=address,
        groups=groups,
        answer=answer,
        mistake=mistake,
        lines=() if answer is None else tuple(_lines(address, answer)),
        chosen=tuple(_chosen(address)),
        further=() if answer is None else tuple(_further(address, answer)),
        notes=(*notes, *(answer.notes if answer else ())),
        figure=None if answer is None else _figure(answer),
    )


def _metric_step(address: MetricAddress, metric: MetricContents) -> QuestionLink:
    unit = f", in {metric.unit}" if metric.unit else ""
    label = f"{metric.series} series{unit}"
    return QuestionLink(metric.type, address.of_metric(metric.source, metric.type).href, label)


def _chosen(address: MetricAddress) -> Iterator[QuestionLink]:
    for place, text in enumerate(address.breakouts):
        yield QuestionLink(text, address.without(place).href, f"stop splitting by {text}")


def _further(address: MetricAddress, answer: QueryAnswer) -> Iterator[QuestionLink]:
    for name, count in answer.remaining.items():
        yield QuestionLink(name, address.broken_out(name).href, f"split by {name}: {count} values")


def _lines(address: MetricAddress, answer: QueryAnswer) -> Iterator[MetricLine]:
    breakouts = answer.query.breakouts
    for row in answer.rows:
        known = [value for value in row.values if value is not None]
        names = []
        for place, breakout in enumerate(breakouts):
            value = row.names[place]
            link = value is not None and breakout.kind in ("every", "each-match")
            href = address.narrowed(place, breakout.name, value).href if link and value else ""
            names.append(
                QuestionLink(plain_text(value or "-"), href, f"{breakout.name} {value} alone")
            )
        yield MetricLine(
            run=Path(row.run).name,
            names=tuple(names),
            series=row.series,
            drawn=answer.drawn(row),
            whole=_number(row.whole),
            least=_number(min(known)) if known else "-",
            most=_number(max(known)) if known else "-",
        )


def _number(value: float) -> str:
    return format_number(value, 5)


def _figure(answer: QueryAnswer) -> Figure | None:
    """The rows over time, those with the greatest values where there are too many."""
    if answer.query.resolution < 2 or not answer.rows:
        return None
    shown = sorted(answer.rows, key=lambda row: abs(row.whole), reverse=True)[:_MAX_LINES]
    several = len({row.run for row in shown}) > 1
    rows = [point for row in shown for point in _points(answer, row, several)]
    longest = max(each.end_ms - each.begin_ms for each in answer.ranges.values()) / _MS_PER_S
    axis = TimeAxis.over(longest)
    names = list(dict.fromkeys(str(row["series"]) for row in rows))
    for row in rows:
        row["time"] = float(str(row["time"])) / axis.divisor
    unit = f" ({answer.unit})" if answer.unit else ""
    chart = (
        alt.Chart(records(rows))
        .mark_line(strokeWidth=1.8, interpolate="step-before")
        .encode(
            x=axis.x("measurement"),
            y=alt.Y("value:Q", title=f"{answer.query.type}{unit}", scale=alt.Scale(zero=False)),
            color=alt.Color("series:N", scale=series_scale(names)),
            tooltip=[
                alt.Tooltip("series:N"),
                alt.Tooltip("time:Q", title=f"time ({axis.unit})", format=".4~f"),
                alt.Tooltip("value:Q", format=",.6~f"),
            ],
        )
    )
    left = len(answer.rows) - len(shown)
    caption = f"In {answer.query.resolution} windows of equal length."
    if left:
        caption += f" The {_MAX_LINES} rows with the greatest values; {left} more in the table."
    return Figure(_CHART, f"{answer.query.type} of {answer.query.source}", caption, chart)


def _points(answer: QueryAnswer, row: AnswerRow, several: bool) -> Iterator[dict[str, object]]:
    parts = [Path(row.run).name] if several else []
    parts += [plain_text(name or "-", 60) for name in row.names]
    series = " ".join(parts) or answer.query.type
    begin_ms = answer.ranges[row.run].begin_ms
    for window, value in zip(answer.windows_of(row.run), row.values, strict=True):
        yield {
            "series": series,
            "time": (window.end_ms - begin_ms) / _MS_PER_S,
            "value": value,
        }
