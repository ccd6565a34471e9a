"""What became of the time of each CPU under test, as one stacked bar each."""

from __future__ import annotations

import altair as alt

from plimsoll.report.charts.chart import Chart
from plimsoll.report.data.one_host import OneHost, cpu_shares
from plimsoll.report.data.run_data import RunData
from plimsoll.report.data.trial_series import trial_words
from plimsoll.report.figures.figure import (
    BLUE,
    GREEN,
    NEUTRAL,
    ORANGE,
    PURPLE,
    VERMILLION,
    Figure,
    records,
)

_NAME, _TITLE = "cpu-time", "Time of the CPUs under test"
STATE_COLOURS = {
    "user": GREEN,
    "system": ORANGE,
    "interrupts": VERMILLION,
    "softirqs": PURPLE,
    "stolen": NEUTRAL,
    "idle": BLUE,
}
_BAR, _FRAME = 30, 40


def cpu_time(data: RunData) -> Figure:
    """Shares of time by CPU in the focus trial, while frames were sent."""
    hosts = [OneHost(data.hosts, host) for host in data.hosts.hosts] if data.hosts else []
    rows = [
        {"cpu": f"{one.host.hostname} CPU {cpu}", "state": state, "share": share, "order": place}
        for one in hosts
        for cpu, shares in sorted(cpu_shares(one).items())
        for place, (state, share) in enumerate(shares.items())
    ]
    if data.focus is None or not rows:
        return Figure(_NAME, _TITLE, "The time of the CPUs was not observed.", None)
    cpus = list(dict.fromkeys(str(row["cpu"]) for row in rows))
    caption = (
        f"Shares of the time in which frames were sent, in {trial_words(data.focus)}. A polling "
        "loop that is left alone spends all of it in user space."
    )
    return Figure(_NAME, _TITLE, caption, state_bars(rows, cpus), _FRAME + _BAR * len(cpus))


def state_bars(
    rows: list[dict[str, object]],
    labels: list[str],
    *,
    field: str = "cpu",
    title: str = "share of its time",
    label_limit: int = 140,
) -> alt.Chart:
    """A bar for each of `labels`, the values of `field`, split by what became of the time.

    Each row has a `state`, its place `order` and its `share` (1 is all); `label_limit` is in
    pixels.
    """
    scale = alt.Scale(domain=list(STATE_COLOURS), range=list(STATE_COLOURS.values()))
    chart: alt.Chart = (
        alt.Chart(records(rows))
        .mark_bar()
        .encode(
            x=alt.X(
                "share:Q",
                title=title,
                axis=alt.Axis(format="%", tickCount=5),
                scale=alt.Scale(domain=[0, 1], nice=False, clamp=True),
            ),
            y=alt.Y(f"{field}:N", title=None, sort=labels, axis=alt.Axis(labelLimit=label_limit)),
            color=alt.Color("state:N", scale=scale, legend=alt.Legend(columns=3)),
            order=alt.Order("order:Q"),
            tooltip=[
                alt.Tooltip(f"{field}:N"),
                alt.Tooltip("state:N"),
                alt.Tooltip("share:Q", title="share", format=".4~%"),
            ],
        )
    )
    return chart


CHART = Chart(cpu_time, "hosts")
