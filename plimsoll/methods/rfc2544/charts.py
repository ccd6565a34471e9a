"""Throughput by frame size, next to what the line could carry: RFC 2544 section 26.1's graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import altair as alt

from plimsoll.methods.rfc2544.result import FrameLossRow, ThroughputRow
from plimsoll.report.figures.figure import BLUE, NEUTRAL, Figure, records, series_scale
from plimsoll.report.figures.value_axis import TICKS

_NAME, _TITLE = "throughput", "Throughput by frame size"
_MEASURED = "throughput"
_LOSS, _LOSS_TITLE = "frame-loss", "Frame loss rate"
# The section wants both axes from 0 to 100 %.
_WHOLE = alt.Scale(domain=[0, 100], nice=False)


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


# Frame loss by input rate, a line for each kind of frames: RFC 2544 section 26.3's graph.
def loss_rates(rows: Sequence[FrameLossRow]) -> Figure:
    """Input rate in percent of the maximum against percent of frames lost."""
    points = [
        {
            "frames": row.subject.frames,
            "input": point.percent,
            "loss": point.loss_percent,
            "load": point.load_pps / 1e6,
        }
        for row in rows
        for point in row.points
        if point.loss_percent is not None
    ]
    if not points:
        return Figure(_LOSS, _LOSS_TITLE, "No frame loss rate is known yet.", None)
    names = [row.subject.frames for row in rows]
    chart: alt.Chart = (
        alt.Chart(records(points))
        .mark_line(point=alt.OverlayMarkDef(size=50))
        .encode(
            x=alt.X("input:Q", title="input rate (% of the maximum)", scale=_WHOLE),
            y=alt.Y("loss:Q", title="frames lost (%)", scale=_WHOLE),
            color=alt.Color("frames:N", scale=series_scale(names)),
            shape=alt.Shape("frames:N", scale=alt.Scale(domain=names)),
            tooltip=[
                alt.Tooltip("frames:N"),
                alt.Tooltip("load:Q", title="load (Mpps)", format=".6~f"),
                alt.Tooltip("input:Q", title="% of the maximum", format=".4~f"),
                alt.Tooltip("loss:Q", title="% lost", format=".4~f"),
            ],
        )
    )
    caption = (
        "Of the worst direction, of what the DUT was offered. Rates that the tester could not "
        "offer are left out."
    )
    return Figure(_LOSS, _LOSS_TITLE, caption, chart)
