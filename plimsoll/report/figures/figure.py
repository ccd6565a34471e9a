"""A figure of the report: one chart with its title and a sentence about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import altair as alt
from altair.utils.schemapi import debug_mode

HEIGHT = 260
# Steps of a curve over a logarithmic axis: one for each pixel or two.
MOST_STEPS = 400
# One part in ten million: finer than a pixel of any screen, and than any tooltip here.
_DIGITS = 7


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
        # It would check every row of data against the schema.
        with unchecked():
            sized = self.chart.properties(width="container", height=self.height)
            specification: dict[str, Any] = sized.to_dict(validate=False)
        specification.pop("config", None)
        # What a screen reader says of it.
        specification["description"] = self.title
        return specification


def unchecked() -> AbstractContextManager[None]:
    """Have Altair not check each part of a chart as it is made; the tests check charts whole."""
    return debug_mode(False)


def y_pixel(pixel: float) -> alt.YValue:
    """A height in pixels from the top, as the channel itself, for which Altair need not search."""
    return alt.YValue(pixel)  # type: ignore[no-untyped-call]


def y2_pixel(pixel: float) -> alt.Y2Value:
    """The same for a mark's other end."""
    return alt.Y2Value(pixel)  # type: ignore[no-untyped-call]


class _Rows(alt.Data):
    """Rows that Altair takes as they are: it would copy and look through them at every step."""

    def __deepcopy__(self, _: object = None) -> _Rows:
        return self

    def to_dict(self, *_: object, **__: object) -> dict[str, Any]:
        """Of Vega-Lite's inline data."""
        return {"values": self._kwds["values"]}


def records(rows: Sequence[Mapping[str, object]]) -> alt.Data:
    """Rows as data inside the chart, so that the page needs no other file."""
    values = [{name: _short(value) for name, value in row.items()} for row in rows]
    # Here, too, it would check every row.
    with unchecked():
        return _Rows(values=values)  # type: ignore[no-untyped-call]


def evenly(rows: list[dict[str, object]], most: int = MOST_STEPS) -> list[dict[str, object]]:
    """At most so many rows of a cumulative curve, its first and its last among them."""
    if len(rows) <= most:
        return rows
    last = len(rows) - 1
    return [rows[round(n * last / (most - 1))] for n in range(most)]


def _short(value: object) -> object:
    """A number to the digits that a chart can show; sixteen of them are half a page's weight."""
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value
