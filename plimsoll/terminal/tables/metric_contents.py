"""What metrics there are, as a table, JSON or CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from plimsoll.record.query.contents import MetricContents
from plimsoll.terminal.tables.figure_table import FigureTable, TableColumn
from plimsoll.text.plain_text import plain_text, spreadsheet_text

_HEADINGS = ("source", "type", "class", "unit", "aggregation", "names", "series")


def contents_table(contents: Sequence[MetricContents]) -> FigureTable:
    """A line for each type of metric; after each name how many values it has."""
    sides = ["left"] * (len(_HEADINGS) - 1) + ["right"]
    table = FigureTable(
        "",
        [
            TableColumn(heading, "right" if side == "right" else "left", wraps=heading == "names")
            for heading, side in zip(_HEADINGS, sides, strict=True)
        ],
    )
    for metric in contents:
        table.add_row(*_cells(metric))
    return table


def contents_json(contents: Sequence[MetricContents]) -> str:
    """A list of objects."""
    return json.dumps([asdict(metric) for metric in contents], indent=2)


def contents_csv(contents: Sequence[MetricContents]) -> str:
    """The table's columns."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_HEADINGS)
    writer.writerows(map(spreadsheet_text, _cells(metric)) for metric in contents)
    return text.getvalue().rstrip("\n")


def names_and_counts(names: Mapping[str, int]) -> str:
    """Each name, and after it how many values it has."""
    return ", ".join(f"{plain_text(name)} ({count})" for name, count in names.items())


def _cells(metric: MetricContents) -> tuple[str, ...]:
    plain = (metric.source, metric.type, metric.metric_class, metric.unit, metric.aggregation)
    names = names_and_counts(metric.names)
    return (*map(plain_text, plain), names, str(metric.series))
