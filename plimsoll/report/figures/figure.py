"""A figure of the report: one chart with its title and a sentence about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
from altair.utils.schemapi import debug_mode

HEIGHT = 260


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart, or the sentence that stands in its place when there is nothing to draw.

    `name` is a file name; `caption` says how to read the chart, or why there is none;
    `height` is in pixels.
    """

    name: str
    title: str
    caption: str
    chart: alt.Chart | alt.LayerChart | None
    height: int = HEIGHT

    def specification(self) -> dict[str, Any] | None:
        """The Vega-Lite specification without a theme, as wide as its place; None without chart."""
        if self.chart is None:
            return None
        sized = self.chart.properties(width="container", height=self.height)
        # Altair would check every row of data against the schema; the tests check the charts.
        specification: dict[str, Any] = sized.to_dict(validate=False)
        specification.pop("config", None)
        return specification


def records(rows: Sequence[Mapping[str, object]]) -> alt.Data:
    """Rows as data inside the chart, so that the page needs no other file."""
    # Here, too, it would check every row.
    with debug_mode(False):
        return alt.Data(values=[dict(row) for row in rows])  # type: ignore[no-untyped-call]
