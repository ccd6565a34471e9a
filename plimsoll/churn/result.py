"""`plimsoll churn`: streams over several networks while a cluster is churned."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median

from plimsoll.churn.results.churn_result import (
    ChurnCell,
    ChurnResult,
    LatencyFigures,
)
from plimsoll.record.methods.method import Better, Method, RunAnswer, RunFigure, RunOutcome

# All kinds of pods together.
_ALL_PODS = "all"
_NS_PER_MS = 1e6
_OfCell = Callable[[ChurnCell], float | None]


# The figures by which churn runs are compared: streams by network and level, KPIs by level.
def churn_figures(result: ChurnResult) -> Iterator[RunFigure]:
    """Each is the median over the cells that have it.

    What the control plane did is distinguished by level alone: it has the same to do whichever
    network the streams cross.
    """
    for network in result.networks:
        for percent in result.levels:
            at = [each for each in result.cells if each.network == network]
            yield from _of_streams(f"over {network} {_level(percent)}", _at(at, percent))
    for percent in result.levels:
        yield from _of_control_plane(_level(percent), _at(result.cells, percent))


def _level(percent: float) -> str:
    return f"at {percent:g} percent"


def _at(cells: Sequence[ChurnCell], percent: float) -> list[ChurnCell]:
    return [each for each in cells if each.percent == percent]


def _of_streams(place: str, cells: Sequence[ChurnCell]) -> Iterator[RunFigure]:
    sent = [each for each in cells if each.streams is not None]
    yield from _median(f"throughput {place}", sent, _mean_mbps, "Mbit/s", better="higher")
    yield from _median(f"deepest dip {place}", sent, _deepest_dip, "ratio")
    yield from _median(f"longest dip {place}", sent, _longest_dip_s, "s")
    yield from _median(f"UDP p50 {place}", sent, lambda cell: _probe_ns(cell, "p50"), "ns")
    yield from _median(f"UDP p99 {place}", sent, lambda cell: _probe_ns(cell, "p99"), "ns")
    yield from _median(f"UDP loss {place}", sent, _probe_loss, "ratio")


def _mean_mbps(cell: ChurnCell) -> float | None:
    return None if cell.streams is None else cell.streams.mean_bps / 1e6


def _deepest_dip(cell: ChurnCell) -> float:
    return max((dip.depth for dip in cell.dips), default=0.0)


def _longest_dip_s(cell: ChurnCell) -> float:
    return max((dip.end_s - dip.begin_s for dip in cell.dips), default=0.0)


def _probe_ns(cell: ChurnCell, quantile: str) -> float | None:
    return None if cell.probe is None else float(getattr(cell.probe, f"{quantile}_us")) * 1e3


def _probe_loss(cell: ChurnCell) -> float | None:
    return None if cell.probe is None else cell.probe.loss


def _of_control_plane(place: str, cells: Sequence[ChurnCell]) -> Iterator[RunFigure]:
    # Of pods that were not ready in time there is no time: without them the rest would flatter.
    whole = [each for each in cells if all(phase.complete for phase in each.phases)]
    for name in ("p50", "p99"):
        yield from _median(f"pod readiness {name} {place}", whole, _readiness_ns(name), "ns")
    kinds = _names(each.control_plane.requests_by_kind for each in cells)
    for kind in kinds:
        yield from _median(f"{kind} requests p99 {place}", cells, _requests_ns(kind), "ns")
    for of in _names(each.control_plane.etcd for each in cells):
        yield from _median(f"etcd {of} p99 {place}", cells, _etcd_ns(of), "ns")


def _names(figures: Iterator[Sequence[LatencyFigures]]) -> list[str]:
    return list(dict.fromkeys(each.name for of_cell in figures for each in of_cell))


def _readiness_ns(quantile: str) -> _OfCell:
    """Of all kinds of pods together, by the run's own watch."""

    def of_cell(cell: ChurnCell) -> float | None:
        found = (each for each in cell.control_plane.readiness if each.kind == _ALL_PODS)
        ready = next(found, None)
        return None if ready is None else float(getattr(ready, f"{quantile}_ms")) * _NS_PER_MS

    return of_cell


def _requests_ns(kind: str) -> _OfCell:
    return lambda cell: _p99_ns(cell.control_plane.requests_by_kind, kind)


def _etcd_ns(of: str) -> _OfCell:
    return lambda cell: _p99_ns(cell.control_plane.etcd, of)


def _p99_ns(figures: Sequence[LatencyFigures], name: str) -> float | None:
    p99_ms = next((each.p99_ms for each in figures if each.name == name), None)
    return None if p99_ms is None else p99_ms * _NS_PER_MS


def _median(
    name: str, cells: Sequence[ChurnCell], of: _OfCell, unit: str, better: Better = "lower"
) -> Iterator[RunFigure]:
    values = [value for cell in cells if (value := of(cell)) is not None]
    if values:
        yield RunFigure(name, median(values), unit, better)


def _outcome(result: ChurnResult) -> RunOutcome:
    kept = [(cell.streams.kept, cell) for cell in result.cells if cell.streams and cell.percent]
    if not kept:
        text = f"{len(result.cells)} cells, no streams under churn"
        return RunOutcome(RunAnswer(text, "throughput kept", None, "%"), result.verdict)
    share, cell = min(kept, key=lambda each: each[0])
    percent = 100 * share
    text = f"{percent:.1f} % of the throughput kept at worst ({cell.label})"
    return RunOutcome(RunAnswer(text, "throughput kept", percent, "%"), result.verdict)


METHOD = Method(
    "churn",
    command="churn",
    result=ChurnResult,
    schema="churn-result",
    outcome=_outcome,
    figures=churn_figures,
)
