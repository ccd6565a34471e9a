"""UDP latency by network and level: percentiles, loss, and how it is distributed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import altair as alt

from plimsoll.churn.results.churn_result import ChurnCell, ProbeFigures
from plimsoll.report.figures.figure import Figure, records
from plimsoll.report.figures.palette import series_scale
from plimsoll.report.pages.standard.sections import Heading, PageSection, SectionTable, numbers
from plimsoll.text.slug import slug

_EXPLAINED = (
    "Datagrams at a fixed rate between the pods of the first pairs, next to their streams: {way}, "
    "from the sender's call to the kernel's stamp on arrival. Unsent are those that were due "
    "while the prober had no CPU: they are no loss, and would have been of the same moments."
)
_BOTH_WAYS = (
    "Over {networks} latency is of both ways, without the time that the far end held a datagram: "
    "pods of a cluster have no clock in common."
)
_NOTHING = "-"


def probe_section(cells: Sequence[ChurnCell]) -> PageSection | None:
    """None where nothing was probed."""
    probed = [(cell, cell.probe) for cell in cells if cell.probe is not None]
    if not probed:
        return None
    networks = dict.fromkeys(cell.network for cell, _ in probed)
    figures = tuple(
        _distribution(network, [each for each in probed if each[0].network == network])
        for network in networks
    )
    both_ways = dict.fromkeys(cell.network for cell, probe in probed if probe.round_trip)
    way = "both ways" if len(both_ways) == len(networks) else "one way"
    explained = [_EXPLAINED.format(way=way)]
    if both_ways:
        explained.append(_BOTH_WAYS.format(networks=" and ".join(both_ways)))
    return PageSection("UDP latency", tuple(explained), (_table(probed),), figures)


def _table(probed: Sequence[tuple[ChurnCell, ProbeFigures]]) -> SectionTable:
    columns = (
        Heading("Network", number=False),
        *numbers("Churn", "p50 before (µs)", "p99 before (µs)", "p50 (µs)", "p95 (µs)"),
        *numbers("p99 (µs)", "p99.9 (µs)", "Longest (µs)", "p99 in dips (µs)", "Sent", "Lost"),
        *numbers("Unsent"),
    )
    rows = tuple(
        (
            cell.network,
            f"{cell.percent:g} %",
            *map(_us, (probe.before_p50_us, probe.before_p99_us, probe.p50_us, probe.p95_us)),
            *map(_us, (probe.p99_us, probe.p99_9_us, probe.max_us)),
            _us(max((us for dip in cell.dips if (us := dip.probe_p99_us)), default=None)),
            f"{probe.sent:,}",
            f"{probe.lost:,}",
            f"{probe.unsent:,}",
        )
        for cell, probe in probed
    )
    return SectionTable("Before and under churn", columns, rows)


def _distribution(network: str, probed: Sequence[tuple[ChurnCell, ProbeFigures]]) -> Figure:
    """The share of datagrams that took longer, of each level: of all its repetitions together."""
    together: dict[float, Counter[int]] = defaultdict(Counter)
    for cell, probe in probed:
        together[cell.percent].update(dict(probe.histogram))
    series = {f"{percent:g} %": list(_longer(counts)) for percent, counts in together.items()}
    rows = [
        {"latency": us, "share": share, "level": level}
        for level, points in series.items()
        for us, share in points
    ]
    title = f"UDP latency over {network}"
    caption = "Share of the datagrams that took longer, to the microsecond, from the churn's begin."
    chart = (
        alt.Chart(records(rows))
        .mark_line(interpolate="step-after", strokeWidth=1.6)
        .encode(
            x=alt.X("latency:Q", title="latency (µs)", scale=alt.Scale(type="log")),
            y=alt.Y("share:Q", title="share that took longer", scale=alt.Scale(type="log")),
            color=alt.Color("level:N", scale=series_scale(list(series))),
            strokeDash=alt.StrokeDash("level:N", legend=None),
            tooltip=[
                alt.Tooltip("level:N"),
                alt.Tooltip("latency:Q"),
                alt.Tooltip("share:Q", format=".3~g"),
            ],
        )
    )
    return Figure(slug(title), title, caption, alt.LayerChart(layer=[chart]))


def _longer(counts: Counter[int]) -> Iterator[tuple[int, float]]:
    """The end of each microsecond that was met, with the share above it: none of the last."""
    received = left = counts.total()
    for us, count in sorted(counts.items()):
        left -= count
        if left:
            # A logarithm has no zero.
            yield us + 1, left / received


def _us(value: float | None) -> str:
    return _NOTHING if value is None else f"{value:,.1f}"
