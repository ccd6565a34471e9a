"""Throughput by network and level, and its dips, as tables."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import altair as alt

from plimsoll.churn.results.churn_result import ChurnCell, Match, ProbeFigures, StreamFigures
from plimsoll.churn.streams.dips import RateOver, total_rates
from plimsoll.record.metrics.metrics import query_metrics
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.figures.figure import Figure, records, series_scale, y2_pixel, y_pixel
from plimsoll.report.figures.table import (
    Cell,
    Cells,
    ReportColumn,
    ReportTable,
    count,
    number,
    percent,
    tenths,
    text,
)
from plimsoll.report.figures.time_axis import Point, extremes
from plimsoll.report.pages.standard.sections import PageSection
from plimsoll.text.plain_text import slug

NETWORK = text("network", "Network")
LEVEL = number("churn_percent", "Churn", lambda level: f"{level:g} %")
_STEP_S = 1.0
_PHASE_COLOURS = {"delete": "#d9a441", "create": "#8fb8d8"}
_ROWS = (
    "SELECT names['pair'], begin_ms, end_ms, value FROM rows "
    "WHERE source = 'iperf3' AND type = 'rx-bps' ORDER BY begin_ms"
)
_EXPLAINED = (
    "Datagrams at a fixed rate between the pods of the first pairs, next to their streams: "
    "{way}, from the sender's call to the kernel's stamp on arrival. Unsent: datagrams that were "
    "due while the prober had no CPU. They do not count as lost."
)
_BOTH_WAYS = (
    "Over {networks} latency is of both ways, without the time that the far end held a datagram: "
    "pods of a cluster have no clock in common."
)


def level_table(cells: Sequence[ChurnCell]) -> ReportTable:
    """A row for each network, a column for each level: the mean, and percent of the theoretical.

    Of several repetitions the mean over all.
    """
    levels = sorted({cell.percent for cell in cells})
    networks = list(dict.fromkeys(cell.network for cell in cells))
    rows: tuple[Cells, ...] = tuple(
        (network, *(_level_cell(cells, network, level) for level in levels)) for network in networks
    )
    columns = (
        NETWORK,
        *(
            ReportColumn((f"mean_bps_at_{level:g}", f"percent_at_{level:g}"), f"{level:g} % churn")
            for level in levels
        ),
    )
    title = "Mean throughput, and percent of the theoretical"
    return ReportTable("throughput-by-level", columns, rows, title)


def throughput_table(cells: Sequence[ChurnCell]) -> ReportTable:
    """A row for each cell: how much of its throughput before the churn it kept."""
    columns = (
        NETWORK,
        LEVEL,
        _rate("before_bps", "Before (Mbit/s)"),
        _rate("mean_bps", "Mean (Mbit/s)"),
        percent("kept_percent", "Kept"),
        _rate("lowest_bps", "Lowest second (Mbit/s)"),
        percent("noise_before_percent", "Noise before", 2),
        count("retransmits", "Retransmits"),
        count("cycles", "Cycles"),
    )
    rows = tuple(
        (
            cell.network,
            cell.percent,
            streams.reference_bps,
            streams.mean_bps,
            100 * streams.kept,
            streams.least_bps,
            100 * streams.noise,
            streams.retransmits,
            cell.cycles,
        )
        for cell in cells
        if (streams := cell.streams) is not None
    )
    return ReportTable("throughput", columns, rows, "Before and under churn")


def pair_table(cells: Sequence[ChurnCell]) -> ReportTable:
    """A row for each pair of each cell: what it carried, and between which nodes."""
    columns = (
        NETWORK,
        LEVEL,
        count("pair", "Pair"),
        _rate("mean_bps", "Mean (Mbit/s)"),
        ReportColumn(("client_node",), "Client's node", number=False),
        ReportColumn(("server_node",), "Server's node", number=False),
    )
    rows = [row for cell in cells if cell.streams for row in _pair_rows(cell, cell.streams)]
    return ReportTable("pairs", columns, tuple(rows), "Each pair under churn", long=True)


def _pair_rows(cell: ChurnCell, streams: StreamFigures) -> Iterator[Cells]:
    nodes = streams.nodes or ((None, None),) * streams.pairs
    for pair, (mean_bps, ends) in enumerate(zip(streams.pairs_mean_bps, nodes, strict=True), 1):
        yield (cell.network, cell.percent, pair, mean_bps, *ends)


def dip_table(cells: Sequence[ChurnCell]) -> ReportTable:
    """A row for each cell: its dips, and how they match with the churn."""
    columns = (
        NETWORK,
        LEVEL,
        count("dips", "Dips"),
        percent("deepest_percent", "Deepest"),
        number("longest_s", "Longest", lambda length_s: f"{length_s:.1f} s"),
        number("lost_bits", "Lost (Mbit)", lambda bits: f"{bits / 1e6:.1f}"),
        ReportColumn(
            ("matched_dips", "judged_dips"),
            "With churn",
            lambda matched, dips: f"{matched} of {dips}",
        ),
        percent("chance_percent", "By chance", 0),
        number("p", "p", lambda p: f"{p:.2f}"),
    )
    rows = tuple(_dip_row(cell) for cell in cells if cell.streams is not None)
    return ReportTable("dips", columns, rows, "Dips")


def _dip_row(cell: ChurnCell) -> Cells:
    deepest = max((dip.depth for dip in cell.dips), default=None)
    return (
        cell.network,
        cell.percent,
        len(cell.dips),
        None if deepest is None else 100 * deepest,
        max((dip.end_s - dip.begin_s for dip in cell.dips), default=None),
        sum(dip.lost_bits for dip in cell.dips) if cell.dips else None,
        *_match_cells(cell.match),
    )


def _match_cells(match: Match | None) -> Cells:
    if match is None or match.chance is None or match.p is None:
        return Cell((None, None)), None, None
    return Cell((match.matched, match.dips)), 100 * match.chance, match.p


def _level_cell(cells: Sequence[ChurnCell], network: str, level: float) -> Cell:
    found = [
        cell.streams
        for cell in cells
        if cell.streams and (cell.network, cell.percent) == (network, level)
    ]
    if not found:
        return Cell((None, None))
    mean = sum(each.mean_bps for each in found) / len(found)
    theoretical = found[0].theoretical_bps
    share = None if theoretical is None else 100 * mean / theoretical
    shown = f"{_mbps(mean)} Mbit/s"
    return Cell((mean, share), shown if share is None else f"{shown} ({share:.1f} %)")


def _rate(name: str, heading: str) -> ReportColumn:
    return number(name, heading, _mbps)


def _mbps(bps: float) -> str:
    return f"{bps / 1e6:,.1f}"


# The streams' total throughput over each cell, a chart for each network, a line for each level.
def throughput_figures(run: RunDirectory, cells: Sequence[ChurnCell]) -> tuple[Figure, ...]:
    """Of every network that has cells with streams. Raises RecordError."""
    networks = dict.fromkeys(cell.network for cell in cells if cell.streams)
    return tuple(
        _figure(run, network, [cell for cell in cells if cell.network == network])
        for network in networks
    )


def _figure(run: RunDirectory, network: str, cells: Sequence[ChurnCell]) -> Figure:
    series = {_name(cell, cells): list(_points(run, cell)) for cell in cells}
    kept = extremes(series)
    rows = [
        {"time": point.at_s, "rate": point.value, "level": name}
        for name, points in kept.series.items()
        for point in points
    ]
    title = f"Throughput over {network}"
    if not rows:
        return Figure(slug(title), title, "No stream has been recorded.", None)
    lines = (
        alt.Chart(records(rows))
        .mark_line(strokeWidth=1.6)
        .encode(
            x=alt.X("time:Q", title="time since the churn began (s)"),
            y=alt.Y("rate:Q", title="all pairs (Mbit/s)", scale=alt.Scale(zero=True)),
            color=alt.Color("level:N", scale=series_scale(list(series))),
            strokeDash=alt.StrokeDash("level:N", legend=None),
            tooltip=[
                alt.Tooltip("level:N"),
                alt.Tooltip("time:Q", title="s", format=".4~g"),
                alt.Tooltip("rate:Q", title="Mbit/s", format=".5~g"),
            ],
        )
    )
    caption = (
        "Payload received each second. Below: when the cell with the most churn deleted "
        "namespaces (amber) and made them again (blue)." + kept.remark()
    )
    bands = _bands(max(cells, key=lambda cell: cell.percent))
    layers = [*([] if bands is None else [bands]), lines]
    return Figure(slug(title), title, caption, alt.LayerChart(layer=layers))


def _bands(cell: ChurnCell) -> alt.Chart | None:
    rows = [
        {
            "begin": (phase.begin_unix_ns - cell.churn_begin_unix_ns) / 1e9,
            "end": (phase.end_unix_ns - cell.churn_begin_unix_ns) / 1e9,
            "colour": _PHASE_COLOURS[phase.kind],
        }
        for phase in cell.phases
    ]
    if not rows:
        return None
    chart: alt.Chart = (
        alt.Chart(records(rows))
        .mark_rect(opacity=0.28)
        .encode(
            x=alt.X("begin:Q"),
            x2=alt.X2("end:Q"),
            y=y_pixel(252),
            y2=y2_pixel(260),
            color=alt.Color("colour:N", scale=None),
        )
    )
    return chart


def _name(cell: ChurnCell, cells: Sequence[ChurnCell]) -> str:
    name = f"{cell.percent:g} %"
    again = sum(each.percent == cell.percent for each in cells) > 1
    return f"{name} ({cell.repetition})" if again else name


def _points(run: RunDirectory, cell: ChurnCell) -> Iterator[Point]:
    churn_ms = cell.churn_begin_unix_ns / 1e6
    by_pair: dict[str, list[RateOver]] = defaultdict(list)
    for pair, begin_ms, end_ms, bps in query_metrics(run, _ROWS, periods=[cell.period]):
        by_pair[pair].append(RateOver((begin_ms - churn_ms) / 1e3, (end_ms - churn_ms) / 1e3, bps))
    least_s = (cell.begin_unix_ns - cell.churn_begin_unix_ns) / 1e9
    for rate in total_rates(list(by_pair.values()), _STEP_S):
        if rate.begin_s >= least_s:
            yield Point(rate.begin_s, rate.bps / 1e6)


# UDP latency by network and level: percentiles, loss, and how it is distributed.
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


def _table(probed: Sequence[tuple[ChurnCell, ProbeFigures]]) -> ReportTable:
    columns = (
        NETWORK,
        LEVEL,
        *(
            tenths(name, heading)
            for name, heading in (
                ("before_p50_us", "p50 before (µs)"),
                ("before_p99_us", "p99 before (µs)"),
                ("p50_us", "p50 (µs)"),
                ("p95_us", "p95 (µs)"),
                ("p99_us", "p99 (µs)"),
                ("p99_9_us", "p99.9 (µs)"),
                ("max_us", "Longest (µs)"),
                ("p99_in_dips_us", "p99 in dips (µs)"),
            )
        ),
        count("sent", "Sent"),
        count("lost", "Lost"),
        count("unsent", "Unsent"),
    )
    rows = tuple(
        (
            cell.network,
            cell.percent,
            probe.before_p50_us,
            probe.before_p99_us,
            probe.p50_us,
            probe.p95_us,
            probe.p99_us,
            probe.p99_9_us,
            probe.max_us,
            max((us for dip in cell.dips if (us := dip.probe_p99_us)), default=None),
            probe.sent,
            probe.lost,
            probe.unsent,
        )
        for cell, probe in probed
    )
    return ReportTable("udp-latency", columns, rows, "Before and under churn")


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
    for us, frames in sorted(counts.items()):
        left -= frames
        if left:
            # A logarithm has no zero.
            yield us + 1, left / received
