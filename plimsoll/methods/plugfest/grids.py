"""A plugfest's cells as tables: a row for flows and frame size, a column for each DUT."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from plimsoll.analysis.comparison.conclude import Shift
from plimsoll.analysis.comparison.words import MARKS, conclusion_words, shift_words, value_words
from plimsoll.methods.plugfest.result import (
    Axis,
    CellDifference,
    CellState,
    MeasuredFigure,
    PlugfestCell,
    PlugfestResult,
)
from plimsoll.report.figures.table import Cell, Cells, ReportColumn, ReportTable
from plimsoll.text.plain_text import slug

THROUGHPUT = "load line"
LATENCIES = ("p50 latency", "p99 latency")
STATE_WORDS: dict[CellState, str] = {
    "measured": "measured",
    "none": "no load line",
    "invalid": "invalid",
    "failed": "failed",
    "refused": "refused",
    "not-run": "not run",
}
_STATE_MARKS: dict[CellState, str] = {
    "measured": "",
    "none": "fail",
    "invalid": "invalid",
    "failed": "fail",
    "refused": "none",
    "not-run": "none",
}


@dataclass(frozen=True, slots=True)
class GridSetting:
    """Chain, noise and generator: what all cells of one table have in common."""

    chain: str
    noise: str
    generator: str


def settings_of(result: PlugfestResult) -> tuple[GridSetting, ...]:
    """Each once, in the order of the axes."""
    return tuple(dict.fromkeys(setting_of(cell) for cell in result.cells))


def setting_of(cell: PlugfestCell) -> GridSetting:
    """The one that a cell has."""
    return GridSetting(cell.chain, cell.noise, cell.generator)


def setting_title(setting: GridSetting) -> str:
    """For headings: "p2p, quiet, engine"."""
    return f"{setting.chain}, {setting.noise}, {setting.generator}"


def throughput_grid(result: PlugfestResult, setting: GridSetting) -> ReportTable:
    """The load line of every cell: the median, and its range where it was repeated."""
    return _grid(result, setting, "Throughput per direction", _figure_columns("pps"), _throughput)


def latency_grid(result: PlugfestResult, setting: GridSetting, name: str) -> ReportTable:
    """A quantile of the latency at each repetition's own load line."""
    title = f"{name[:1].upper()}{name[1:]} at the load line"
    return _grid(
        result, setting, title, _figure_columns("ns"), lambda cell: _figure(cell.figure(name))
    )


def difference_grid(result: PlugfestResult, setting: GridSetting, name: str) -> ReportTable:
    """How far each DUT's figure is off the baseline's, and whether that is more than spread."""
    off = _by_cell(result, "dut", name)
    unit = next((each.unit for each in off.values()), "")
    return _grid(
        result,
        setting,
        f"{name[:1].upper()}{name[1:]} against {result.baseline}",
        (f"difference_{unit}", f"difference_least_{unit}", f"difference_most_{unit}", "outcome"),
        lambda cell: _off(cell, off.get(cell.number)),
        duts=[dut for dut in duts_of(result) if dut != result.baseline],
    )


def duts_of(result: PlugfestResult) -> list[str]:
    """In the order of the axis."""
    return list(dict.fromkeys(cell.dut for cell in result.cells))


def frames_words(size: str) -> str:
    """ "64 B", or the mix's name."""
    return f"{size} B" if size.isdecimal() else f"IMIX {size}"


def flows_words(flows: int) -> str:
    """ "1 flow", "4,096 flows"."""
    return "1 flow" if flows == 1 else f"{flows:,} flows"


def difference_words(of: CellDifference) -> str:
    """The estimate with its interval: as a share, in the figure's unit where a value is zero."""
    found = of.conclusion
    if found is None or found.share is None:
        return shift_words(Shift(of.estimate, of.least, of.most, None, None), of.unit)
    text = _percent(found.share)
    if found.least_share is None or found.most_share is None:
        return text
    return f"{text} ({_percent(found.least_share)} to {_percent(found.most_share)})"


def outcome_words(of: CellDifference) -> tuple[str, str]:
    """The mark of a page, and the words."""
    if of.conclusion is None:
        return MARKS["cannot tell"], "cannot tell"
    return MARKS[of.conclusion.kind], conclusion_words(of.conclusion)


def figure_words(figure: MeasuredFigure) -> str:
    """The median, and the range of the repetitions where they differ."""
    text = value_words(figure.median, figure.unit)
    least, most = min(figure.values), max(figure.values)
    if least == most:
        return text
    return f"{text} ({value_words(least, figure.unit)} to {value_words(most, figure.unit)})"


def limited_by_tester(cell: PlugfestCell) -> bool:
    """Whether in some repetition the DUT may carry more than could be offered."""
    return any(
        sample.load_line_pps is not None and sample.limited_by in ("tester", "maximum")
        for sample in cell.samples
    )


def _by_cell(result: PlugfestResult, axis: Axis, name: str) -> dict[int, CellDifference]:
    return {
        each.cell: each for each in result.differences if each.axis == axis and each.figure == name
    }


def _grid(
    result: PlugfestResult,
    setting: GridSetting,
    title: str,
    names: tuple[str, ...],
    cell_of: Callable[[PlugfestCell], Cell],
    *,
    duts: Sequence[str] | None = None,
) -> ReportTable:
    """`names` are those of each DUT's values in files, after its own."""
    shown = duts_of(result) if duts is None else duts
    columns = (
        ReportColumn(("flows",), "Flows", flows_words, number=False),
        ReportColumn(("frame_size",), "Frames", frames_words, number=False),
        *(ReportColumn(tuple(f"{dut}_{name}" for name in names), dut) for dut in shown),
    )
    rows = tuple(_rows(result, setting, cell_of, shown))
    return ReportTable(
        slug(f"{setting_title(setting)} {title}"), columns, rows, title, captioned=True
    )


def _rows(
    result: PlugfestResult,
    setting: GridSetting,
    cell_of: Callable[[PlugfestCell], Cell],
    duts: Sequence[str],
) -> Iterator[Cells]:
    cells = {
        (cell.flows, cell.frame_size, cell.dut): cell
        for cell in result.cells
        if setting_of(cell) == setting
    }
    for flows, size in dict.fromkeys((flows, size) for flows, size, _ in cells):
        yield (flows, size, *(cell_of(cells[flows, size, dut]) for dut in duts))


def _figure_columns(unit: str) -> tuple[str, ...]:
    return f"median_{unit}", f"least_{unit}", f"most_{unit}", "state"


def _throughput(cell: PlugfestCell) -> Cell:
    found = cell.figure(THROUGHPUT)
    if found is None:
        words = STATE_WORDS[cell.state]
        return Cell((None, None, None, cell.state), words, _STATE_MARKS[cell.state])
    least = "≥ " if limited_by_tester(cell) else ""
    return _figure(found, least)


def _figure(figure: MeasuredFigure | None, prefix: str = "") -> Cell:
    if figure is None:
        return Cell((None, None, None, None), "-")
    values = (figure.median, min(figure.values), max(figure.values), "at-least" if prefix else "")
    return Cell(values, f"{prefix}{figure_words(figure)}")


def _off(cell: PlugfestCell, of: CellDifference | None) -> Cell:
    if of is None:
        measured = cell.state == "measured"
        return Cell((None,) * 4, "-" if measured else STATE_WORDS[cell.state], "none")
    mark, words = outcome_words(of)
    values = (of.estimate, of.least, of.most, words)
    return Cell(values, f"{difference_words(of)} {words}", mark)


def _percent(share: float) -> str:
    # Three digits, but never as a power of ten.
    return f"{float(f'{share * 100:.3g}'):+,g} %"
