"""A soak's windows as a strip, one mark each by its verdict."""

from __future__ import annotations

import altair as alt

from plimsoll.methods.soak.data import SoakData
from plimsoll.report.figures.figure import Figure, records, y2_pixel, y_pixel
from plimsoll.report.figures.palette import VERDICT_COLOURS, VERDICT_SHAPES, VERDICTS
from plimsoll.report.figures.time_axis import TimeAxis
from plimsoll.text.units import format_duration

_NAME, _TITLE = "soak-windows", "Windows"
_STRIP_HEIGHT = 46


def soak_windows(data: SoakData) -> Figure:
    """Each window from its begin to its end, coloured and marked by verdict."""
    if not data.windows:
        return Figure(_NAME, _TITLE, "No window has closed yet.", None)
    axis = TimeAxis.over(data.length_s)
    strip = alt.Chart(records(_rows(data, axis)))
    time = axis.x("soak", "begin")
    tooltips = [alt.Tooltip(name) for name in ("window:Q", "verdict:N", "from:N", "reason:N")]
    colour = alt.Color(
        "verdict:N",
        scale=alt.Scale(domain=list(VERDICTS), range=list(VERDICT_COLOURS)),
    )
    bars = strip.mark_rect(opacity=0.45, stroke="white", strokeWidth=1).encode(
        x=time,
        x2=alt.X2("end:Q"),
        y=y_pixel(0),
        y2=y2_pixel(_STRIP_HEIGHT),
        color=colour,
        tooltip=tooltips,
    )
    marks = strip.mark_point(filled=True, size=46).encode(
        x=alt.X("middle:Q"),
        y=y_pixel(_STRIP_HEIGHT / 2),
        color=colour,
        shape=alt.Shape(
            "verdict:N", scale=alt.Scale(domain=list(VERDICTS), range=list(VERDICT_SHAPES))
        ),
        tooltip=tooltips,
    )
    caption = (
        f"Each window of {format_duration(data.result.windows.window_s)} judged by itself; "
        "none is one cut short, and a gap is time without traffic."
    )
    chart = alt.LayerChart(layer=[bars, marks])
    return Figure(_NAME, _TITLE, caption, chart, height=_STRIP_HEIGHT)


def _rows(data: SoakData, axis: TimeAxis) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for number, window in enumerate(data.windows, start=1):
        begin_s = data.begins_s[window.trial] + window.begin_s
        end_s = data.begins_s[window.trial] + window.end_s
        rows.append(
            {
                "window": number,
                "begin": begin_s / axis.divisor,
                "middle": (begin_s + end_s) / 2 / axis.divisor,
                "end": end_s / axis.divisor,
                "from": f"{format_duration(begin_s) if begin_s else '0s'} on",
                "verdict": window.verdict,
                "reason": "; ".join(each.text for each in window.reasons) or "none",
            }
        )
    return rows
