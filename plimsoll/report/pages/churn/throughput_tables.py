"""Throughput by network and level, and its dips, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plimsoll.record.results.churn_result import ChurnCell, MatchRecord, StreamFigures
from plimsoll.report.pages.standard.sections import Heading, SectionTable, numbers

_NETWORK = Heading("Network", number=False)
_NOTHING = "-"


def level_table(cells: Sequence[ChurnCell]) -> SectionTable:
    """A row for each network, a column for each level: the mean, and percent of the theoretical.

    Of several repetitions the mean over all.
    """
    levels = sorted({cell.percent for cell in cells})
    networks = list(dict.fromkeys(cell.network for cell in cells))
    rows = tuple(
        (network, *(_level_words(cells, network, level) for level in levels))
        for network in networks
    )
    columns = (_NETWORK, *numbers(*(f"{level:g} % churn" for level in levels)))
    return SectionTable("Mean throughput, and percent of the theoretical", columns, rows)


def throughput_table(cells: Sequence[ChurnCell]) -> SectionTable:
    """A row for each cell: how much of its throughput before the churn it kept."""
    columns = (
        _NETWORK,
        *numbers("Churn", "Before (Mbit/s)", "Mean (Mbit/s)", "Kept", "Lowest second (Mbit/s)"),
        *numbers("Noise before", "Retransmits", "Cycles"),
    )
    rows = []
    for cell in cells:
        streams = cell.streams
        if streams is None:
            continue
        rows.append(
            (
                cell.network,
                f"{cell.percent:g} %",
                _mbps(streams.reference_bps),
                _mbps(streams.mean_bps),
                f"{100 * streams.kept:.1f} %",
                _mbps(streams.least_bps),
                f"{100 * streams.noise:.2f} %",
                f"{streams.retransmits:,}",
                str(cell.cycles),
            )
        )
    return SectionTable("Before and under churn", columns, tuple(rows))


def pair_table(cells: Sequence[ChurnCell]) -> SectionTable:
    """A row for each pair of each cell: what it carried, and between which nodes."""
    columns = (
        _NETWORK,
        *numbers("Churn", "Pair", "Mean (Mbit/s)"),
        *(Heading(f"{end}'s node", number=False) for end in ("Client", "Server")),
    )
    rows = [row for cell in cells if cell.streams for row in _pair_rows(cell, cell.streams)]
    return SectionTable("Each pair under churn", columns, tuple(rows), long=True)


def _pair_rows(cell: ChurnCell, streams: StreamFigures) -> Iterator[tuple[str, ...]]:
    nodes = streams.nodes or ((_NOTHING, _NOTHING),) * streams.pairs
    for pair, (mean_bps, ends) in enumerate(zip(streams.pairs_mean_bps, nodes, strict=True), 1):
        yield (cell.network, f"{cell.percent:g} %", str(pair), _mbps(mean_bps), *ends)


def dip_table(cells: Sequence[ChurnCell]) -> SectionTable:
    """A row for each cell: its dips, and how they match with the churn."""
    columns = (
        _NETWORK,
        *numbers("Churn", "Dips", "Deepest", "Longest", "Lost (Mbit)", "With churn", "By chance"),
        *numbers("p"),
    )
    rows = tuple(_dip_row(cell) for cell in cells if cell.streams is not None)
    return SectionTable("Dips", columns, rows)


def _dip_row(cell: ChurnCell) -> tuple[str, ...]:
    deepest = max((dip.depth for dip in cell.dips), default=None)
    longest = max((dip.end_s - dip.begin_s for dip in cell.dips), default=None)
    lost = sum(dip.lost_bits for dip in cell.dips) / 1e6
    return (
        cell.network,
        f"{cell.percent:g} %",
        str(len(cell.dips)),
        _NOTHING if deepest is None else f"{100 * deepest:.1f} %",
        _NOTHING if longest is None else f"{longest:.1f} s",
        f"{lost:.1f}" if cell.dips else _NOTHING,
        *_match_words(cell.match),
    )


def _match_words(match: MatchRecord | None) -> tuple[str, str, str]:
    if match is None or match.chance is None or match.p is None:
        return _NOTHING, _NOTHING, _NOTHING
    return f"{match.matched} of {match.dips}", f"{100 * match.chance:.0f} %", f"{match.p:.2f}"


def _level_words(cells: Sequence[ChurnCell], network: str, level: float) -> str:
    found = [
        cell.streams
        for cell in cells
        if cell.streams and (cell.network, cell.percent) == (network, level)
    ]
    if not found:
        return _NOTHING
    mean = sum(each.mean_bps for each in found) / len(found)
    theoretical = found[0].theoretical_bps
    share = "" if theoretical is None else f" ({100 * mean / theoretical:.1f} %)"
    return f"{_mbps(mean)} Mbit/s{share}"


def _mbps(bps: float) -> str:
    return f"{bps / 1e6:,.1f}"
