"""A plugfest's cells as heat maps: DUTs and flows down, frame sizes across."""

from __future__ import annotations

import math
from collections.abc import Sequence

import altair as alt

from plimsoll.analysis.comparison.words import value_words
from plimsoll.methods.plugfest.grids import (
    STATE_WORDS,
    GridSetting,
    difference_words,
    flows_words,
    frames_words,
    limited_by_tester,
    outcome_words,
    setting_of,
    setting_title,
    settings_of,
)
from plimsoll.methods.plugfest.result import (
    Axis,
    CellDifference,
    PlugfestCell,
    PlugfestResult,
)
from plimsoll.record.results.conclusion import ConclusionKind
from plimsoll.report.figures.figure import Figure, records
from plimsoll.report.figures.value_axis import CELL_INK, column_axis, row_axis
from plimsoll.text.plain_text import slug

_LEAST, _MOST = "#eef3f8", "#79b0da"
_WORSE, _SAME, _BETTER = "#f0a878", "#efefec", "#8fd1bd"
_NOTHING = "#d9d9d6"
_SOFT = "#4d5661"
_ROW, _FRAME = 34, 60
# One cell that is off by far would leave the others without a colour.
_MAX_SHARE = 0.5
_SIGNS: dict[ConclusionKind, str] = {
    "better": "▲ ",
    "worse": "▼ ",
    "same": "≈ ",
    "cannot tell": "? ",
}


def figure_heat(
    result: PlugfestResult, setting: GridSetting, name: str, *, greater_is_darker: bool = True
) -> Figure:
    """The median of a figure in every cell; a cell that has none says why."""
    cells = [cell for cell in result.cells if setting_of(cell) == setting]
    rows = [_figure_row(cell, name) for cell in cells]
    title = f"{name[:1].upper()}{name[1:]}: {setting_title(setting)}"
    file_name = slug(f"heat {settings_of(result).index(setting) + 1} {name}")
    if not any(row["value"] is not None for row in rows):
        return Figure(file_name, title, "No cell has one.", None)
    scale = alt.Scale(type="log", range=[_LEAST, _MOST])
    known = "isValid(datum.value)"
    base = _base(cells, rows)
    layers = [
        base.mark_rect(cornerRadius=3, color=_NOTHING).transform_filter(f"!{known}"),
        base.mark_rect(cornerRadius=3)
        .transform_filter(known)
        .encode(color=alt.Color("value:Q", scale=scale, legend=None)),
        base.mark_text(fontSize=11, color=CELL_INK).encode(text=alt.Text("text:N")),
    ]
    what = "the greater" if greater_is_darker else "the longer"
    caption = (
        f"The median of each cell's repetitions, the stronger the colour, {what}, by its "
        "logarithm. A ≥ is limited by the tester or the search's maximum: the DUT may carry more. "
        "A grey cell has none, and says why."
    )
    return Figure(file_name, title, caption, alt.LayerChart(layer=layers), _height(cells))


def difference_heat(
    result: PlugfestResult, axis: Axis, setting: GridSetting, name: str, against: str
) -> Figure:
    """How far a figure is off that of the cell it is held against, with what is certain marked."""
    off = {
        each.cell: each for each in result.differences if each.axis == axis and each.figure == name
    }
    cells = [cell for cell in result.cells if setting_of(cell) == setting and cell.number in off]
    title = f"{name[:1].upper()}{name[1:]} against {against}: {setting_title(setting)}"
    file_name = slug(f"difference {axis} {settings_of(result).index(setting) + 1} {name}")
    rows = [_difference_row(result, cell, off[cell.number]) for cell in cells]
    if not rows:
        return Figure(file_name, title, "No two cells can be held against each other.", None)
    gains = [abs(float(str(row["gain"]))) for row in rows]
    bound = min(max(gains) or 1.0, _MAX_SHARE)
    colour = alt.Color(
        "gain:Q",
        scale=alt.Scale(domain=[-bound, 0, bound], range=[_WORSE, _SAME, _BETTER], clamp=True),
        legend=None,
    )
    certain = (alt.datum.outcome == "better") | (alt.datum.outcome == "worse")
    base = _base(cells, rows)
    layers = [
        base.mark_rect(cornerRadius=3).encode(color=colour),
        base.mark_text(fontSize=11).encode(
            text=alt.Text("text:N"),
            color=alt.condition(certain, alt.value(CELL_INK), alt.value(_SOFT)),
        ),
    ]
    caption = (
        "Green is better, orange worse, the stronger the more. ▲ and ▼ are certain by their exact "
        "95 % interval, ≈ is the same, and ? cannot tell: the interval is missing or too wide, "
        "or the tester limits a load line."
    )
    return Figure(file_name, title, caption, alt.LayerChart(layer=layers), _height(cells))


def _row_name(cell: PlugfestCell) -> str:
    return f"{cell.dut}, {flows_words(cell.flows)}"


def _base(cells: Sequence[PlugfestCell], rows: Sequence[dict[str, object]]) -> alt.Chart:
    columns = list(dict.fromkeys(frames_words(cell.frame_size) for cell in cells))
    down = list(dict.fromkeys(_row_name(cell) for cell in cells))
    return alt.Chart(records(rows)).encode(
        x=column_axis("column", columns),
        y=row_axis("row", down),
        tooltip=[
            alt.Tooltip("row:N", title="DUT"),
            alt.Tooltip("column:N", title="frames"),
            alt.Tooltip("tip:N", title="figure"),
            alt.Tooltip("runs:Q", title="repetitions"),
        ],
    )


def _height(cells: Sequence[PlugfestCell]) -> int:
    return _FRAME + _ROW * len({_row_name(cell) for cell in cells})


def _figure_row(cell: PlugfestCell, name: str) -> dict[str, object]:
    figure = cell.figure(name)
    known = figure is not None and figure.median > 0 and math.isfinite(figure.median)
    text = STATE_WORDS[cell.state] if cell.state != "measured" else "-"
    if figure is not None and known:
        least = "≥ " if name == "load line" and limited_by_tester(cell) else ""
        text = f"{least}{value_words(figure.median, figure.unit)}"
    return {
        "row": _row_name(cell),
        "column": frames_words(cell.frame_size),
        "value": figure.median if figure is not None and known else None,
        "text": text,
        "tip": cell.reason or text,
        "runs": 0 if figure is None else len(figure.values),
    }


def _difference_row(
    result: PlugfestResult, cell: PlugfestCell, of: CellDifference
) -> dict[str, object]:
    figure = cell.figure(of.figure)
    sign = -1 if figure is not None and figure.better == "lower" else 1
    words = difference_words(of)
    share = of.relative if of.conclusion is None else of.conclusion.share
    kind = "cannot tell" if of.conclusion is None else of.conclusion.kind
    return {
        "row": _row_name(cell),
        "column": frames_words(cell.frame_size),
        "gain": sign * (share or 0.0),
        "outcome": kind,
        "text": f"{_SIGNS[kind]}{words.partition(' (')[0]}",
        "tip": f"{words}: {outcome_words(of)[1]}",
        "runs": 0 if figure is None else len(figure.values),
    }
