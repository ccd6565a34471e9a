"""Frame loss by input rate, a line for each kind of frames: RFC 2544 section 26.3's graph."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from plimsoll.methods.rfc2544.result import FrameLossRow
from plimsoll.report.figures.figure import Figure, records
from plimsoll.report.figures.palette import series_scale

_NAME, _TITLE = "frame-loss", "Frame loss rate"
# The section wants both axes from 0 to 100 %.
_WHOLE = alt.Scale(domain=[0, 100], nice=False)


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
        return Figure(_NAME, _TITLE, "No frame loss rate is known yet.", None)
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
    return Figure(_NAME, _TITLE, caption, chart)
