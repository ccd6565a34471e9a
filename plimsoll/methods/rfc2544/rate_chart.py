"""Throughput by frame size, next to what the line could carry: RFC 2544 section 26.1's graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import altair as alt

from plimsoll.methods.rfc2544.result import ThroughputRow
from plimsoll.report.figures.figure import Figure, records
from plimsoll.report.figures.palette import BLUE, NEUTRAL
from plimsoll.report.figures.value_axis import TICKS

_NAME, _TITLE = "throughput", "Throughput by frame size"
_MEASURED = "throughput"


def frame_rates(rows: Sequence[ThroughputRow]) -> Figure:
    """Frame size against frame rate: what was measured, and the most that is possible."""
    if not any(row.pps for row in rows):
        return Figure(_NAME, _TITLE, "No throughput is known yet.", None)
    most = (
        "theoretical maximum" if rows[0].subject.maximum_basis == "line-rate" else "stated maximum"
    )
    colours = alt.Scale(domain=[_MEASURED, most], range=[BLUE, NEUTRAL])
    chart: alt.Chart = (
        alt.Chart(records([*_points(rows, most)]))
        .mark_line(point=alt.OverlayMarkDef(size=60))
        .encode(
            x=alt.X(
                "size:Q",
                title="frame size (bytes with FCS)",
                scale=alt.Scale(nice=False),
                axis=alt.Axis(values=sorted({row.subject.mean_frame_size for row in rows})),
            ),
            y=alt.Y(
                "rate:Q",
                title="frames a second and direction (Mpps)",
                scale=alt.Scale(domainMin=0),
                axis=alt.Axis(format=TICKS),
            ),
            color=alt.Color("line:N", scale=colours),
            strokeDash=alt.StrokeDash(
                "line:N", scale=alt.Scale(domain=[_MEASURED, most], range=[[1, 0], [6, 4]])
            ),
            tooltip=[
                alt.Tooltip("line:N"),
                alt.Tooltip("frames:N"),
                alt.Tooltip("rate:Q", title="Mpps", format=".6~f"),
            ],
        )
    )
    caption = f"The fastest rate without loss, and the {most}. A mix stands at its mean size."
    return Figure(_NAME, _TITLE, caption, chart)


def _points(rows: Sequence[ThroughputRow], most: str) -> Iterator[dict[str, object]]:
    for row in rows:
        subject = row.subject
        for line, pps in ((_MEASURED, row.pps), (most, subject.maximum_pps)):
            if pps is not None:
                yield {
                    "line": line,
                    "frames": subject.frames,
                    "size": subject.mean_frame_size,
                    "rate": pps / 1e6,
                }
