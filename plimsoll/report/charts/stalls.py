"""The tester's own stalls over the run: when its polling loops stood still, and for how long."""

from __future__ import annotations

import altair as alt

from plimsoll.record.causes.spikes import Spike
from plimsoll.report.charts.chart import Chart
from plimsoll.report.data.run_data import RunData
from plimsoll.report.figures.figure import Figure, records, series_scale
from plimsoll.report.figures.time_axis import TimeAxis
from plimsoll.report.figures.value_axis import log_axis

_NAME, _TITLE = "stalls", "Stalls of the tester"
# A stall is a dot of its own, and dots overlap long before lines do.
_MAX_DOTS = 1500


def stalls(data: RunData) -> Figure:
    """Each recorded stall: its time in the run, its length in ms on a log axis, its CPU."""
    found = [spike for spike in data.spikes if spike.kind == "stall" and spike.length_ns > 0]
    if not found:
        sentence = "No stall of the tester was recorded."
        return Figure(_NAME, _TITLE, sentence, None)
    begin_ms = min(spike.begin_ms for spike in data.spikes)
    axis = TimeAxis.over((max(spike.end_ms for spike in data.spikes) - begin_ms) / 1e3)
    kept = sorted(found, key=lambda spike: -spike.length_ns)[:_MAX_DOTS]
    left_out = len(found) - len(kept)
    remark = f" The {left_out} shortest are left out." if left_out else ""
    caption = (
        "Gaps in the tester's own polling loops, the longest of each interval, over the whole "
        f"run. Frames lost or late in a long one are not held against the DUT.{remark}"
    )
    return Figure(_NAME, _TITLE, caption, _dots(kept, begin_ms, axis))


def _dots(kept: list[Spike], begin_ms: float, axis: TimeAxis) -> alt.Chart:
    rows = [
        {
            "time": (spike.begin_ms - begin_ms) / 1e3 / axis.divisor,
            "length": spike.length_ns / 1e6,
            "cpu": f"CPU {spike.cpu}",
            "trial": spike.trial,
        }
        for spike in kept
    ]
    cpus = sorted({str(row["cpu"]) for row in rows})
    chart: alt.Chart = (
        alt.Chart(records(rows))
        .mark_point(filled=True, size=28, opacity=0.65)
        .encode(
            x=axis.x("run"),
            y=log_axis("length", "length (ms, log)", [spike.length_ns / 1e6 for spike in kept]),
            color=alt.Color("cpu:N", scale=series_scale(cpus)),
            shape=alt.Shape("cpu:N", scale=alt.Scale(domain=cpus)),
            tooltip=[
                alt.Tooltip("cpu:N"),
                alt.Tooltip("trial:Q"),
                alt.Tooltip("time:Q", title=f"time ({axis.unit})", format=".4~f"),
                alt.Tooltip("length:Q", title="length (ms)", format=",.4~f"),
            ],
        )
    )
    return chart


CHART = Chart(stalls, "tester")
