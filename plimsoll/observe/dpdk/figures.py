"""What is read of a DPDK process: each figure is one command and the series of its answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TypeGuard

from plimsoll.observe.reading.readings import Readings
from plimsoll.record.samples.metric_type import MetricType

_Names = Mapping[str, str]


def _port_counter(kind: str, unit: str) -> MetricType:
    return MetricType("dpdk", kind, "throughput", unit, "sum", counted=True, carried=True)


# By the names of struct rte_eth_stats.
_PORT_COUNTERS = {
    "ipackets": _port_counter("rx-packets-sec", "packets/s"),
    "opackets": _port_counter("tx-packets-sec", "packets/s"),
    "ibytes": _port_counter("rx-bytes-sec", "bytes/s"),
    "obytes": _port_counter("tx-bytes-sec", "bytes/s"),
    "imissed": _port_counter("rx-missed-sec", "packets/s"),
    "ierrors": _port_counter("rx-errors-sec", "packets/s"),
    "oerrors": _port_counter("tx-errors-sec", "packets/s"),
    "rx_nombuf": _port_counter("rx-nombuf-sec", "packets/s"),
}
_XSTAT = MetricType("dpdk", "xstat-sec", "count", "counts/s", "sum", counted=True, carried=True)
_FREE = MetricType("dpdk", "mempool-free", "count", "objects", "sum", carried=True)
_USED = MetricType("dpdk", "mempool-used", "count", "objects", "sum", carried=True)
_BUSY = MetricType("dpdk", "lcore-busy", "count", "lcores", "sum", carried=True)
TYPES = (*_PORT_COUNTERS.values(), _XSTAT, _FREE, _USED, _BUSY)
# DPDK reports 256 of a port at most; what keeps reporting more is not DPDK.
_MAX_SERIES = 4096
# More than any counter moves in an hour: one that falls below zero reads 2^64 and less.
_LARGEST_STEP = 2**53
# In DPDK's own names there are at most 64 bytes (RTE_ETH_XSTATS_NAME_SIZE).
_LONGEST_NAME = 128


class TelemetryFigure(ABC):
    """One command, sent at every reading for as long as it is `supported`."""

    def __init__(self, command: str) -> None:
        self.command = command
        self.supported = True

    @abstractmethod
    def tell(self, answer: Mapping[str, object], readings: Readings) -> None:
        """Tell what the process answered."""

    @abstractmethod
    def absent(self, readings: Readings) -> None:
        """Tell that it has not answered this time."""


class Counters(TelemetryFigure):
    """Names and totals; those that are not counts are left out."""

    def __init__(
        self, command: str, series_of: Callable[[str], tuple[MetricType, _Names] | None]
    ) -> None:
        super().__init__(command)
        self._series_of = series_of
        self._series: dict[str, int | None] = {}
        self._answer: Mapping[str, object] = {}
        # Those that began, or began anew: their next total is written even if it is the same.
        self._begun: set[str] = set()

    def tell(self, answer: Mapping[str, object], readings: Readings) -> None:
        """Tell the totals that have changed."""
        for name, total in answer.items():
            # Most of an interface's hundreds of counters stand still.
            if total != self._answer.get(name) or name in self._begun:
                self._tell_one(name, total, readings)
        for name in self._answer.keys() - answer.keys():
            self._absent(name, readings)
        self._answer = answer

    def absent(self, readings: Readings) -> None:
        """Tell that none is known."""
        for name in self._answer:
            self._absent(name, readings)
        self._answer = {}

    def _tell_one(self, name: str, total: object, readings: Readings) -> None:
        if not _is_count(total) or (series := self._number(name, readings)) is None:
            return
        before = self._answer.get(name)
        grown = total - before if _is_count(before) else -1
        if grown >= _LARGEST_STEP:
            readings.absent(series)
        readings.total(series, total)
        if 0 <= grown < _LARGEST_STEP:
            self._begun.discard(name)
        else:
            self._begun.add(name)

    def _number(self, name: str, readings: Readings) -> int | None:
        if name not in self._series and len(self._series) < _MAX_SERIES:
            described = self._series_of(name) if _is_name(name) else None
            self._series[name] = None if described is None else readings.series(*described)
        return self._series.get(name)

    def _absent(self, name: str, readings: Readings) -> None:
        if (series := self._series.get(name)) is not None:
            readings.absent(series)


class Mempool(TelemetryFigure):
    """How many objects of a pool are free and in use."""

    def __init__(self, app: str, pool: str) -> None:
        super().__init__(f"/mempool/info,{pool}")
        self._names = {"app": app, "name": pool}

    def tell(self, answer: Mapping[str, object], readings: Readings) -> None:
        """Tell both. Where DPDK does not count them, as 22.11, it is not sent again."""
        size = answer.get("size")
        shared, cached = answer.get("common_pool_count"), answer.get("total_cache_count")
        if not (_is_count(size) and _is_count(shared) and _is_count(cached)):
            self.supported = False
            return
        # Counted while objects move between the pool and the caches of lcores.
        free = min(size, shared + cached)
        readings.value(readings.series(_FREE, self._names), free)
        readings.value(readings.series(_USED, self._names), size - free)

    def absent(self, readings: Readings) -> None:
        """Tell that neither is known."""
        for metric in (_FREE, _USED):
            readings.absent(readings.series(metric, self._names))


class LcoreUsage(TelemetryFigure):
    """Shares of lcores' cycles that were busy, where the application counts them.

    From DPDK 23.03 on, for applications that use rte_lcore_register_usage_cb.
    """

    def __init__(self, app: str) -> None:
        super().__init__("/eal/lcore/usage")
        self._app = app
        self._cycles: dict[int, tuple[int, int]] = {}

    def tell(self, answer: Mapping[str, object], readings: Readings) -> None:
        """Tell the shares since the last answer."""
        columns = [answer.get(name) for name in ("lcore_ids", "total_cycles", "busy_cycles")]
        for lcore, total, busy in zip(*map(_counts, columns), strict=False):
            before = self._cycles.get(lcore)
            self._cycles[lcore] = (total, busy)
            if before is not None and total > before[0] and busy >= before[1]:
                share = (busy - before[1]) / (total - before[0])
                readings.value(self._number(lcore, readings), share)

    def absent(self, readings: Readings) -> None:
        """Tell that none is known."""
        for lcore in self._cycles:
            readings.absent(self._number(lcore, readings))
        self._cycles = {}

    def _number(self, lcore: int, readings: Readings) -> int:
        return readings.series(_BUSY, {"app": self._app, "lcore": str(lcore)})


# What is requested of a process first, to know what it has.
DISCOVERY = ("/ethdev/list", "/mempool/list", "/eal/lcore/usage")


def figures_of(app: str, found: Mapping[str, object]) -> list[TelemetryFigure]:
    """The figures that a process has, out of its answers to DISCOVERY."""
    ports, pools, usage = (found.get(command) for command in DISCOVERY)
    figures = [figure for port in _counts(ports) for figure in _port_figures(app, port)]
    if isinstance(pools, list):
        figures += [Mempool(app, pool) for pool in pools if _is_name(pool)]
    # It is there but empty where the application does not count cycles.
    if isinstance(usage, dict) and usage.get("lcore_ids"):
        figures.append(LcoreUsage(app))
    return figures


def _port_figures(app: str, port: int) -> tuple[TelemetryFigure, TelemetryFigure]:
    """The counters of a port, and those of its driver."""
    names = {"app": app, "port": str(port)}

    def counter(name: str) -> tuple[MetricType, _Names] | None:
        metric = _PORT_COUNTERS.get(name)
        return None if metric is None else (metric, names)

    def xstat(name: str) -> tuple[MetricType, _Names]:
        return _XSTAT, {**names, "name": name}

    return Counters(f"/ethdev/stats,{port}", counter), Counters(f"/ethdev/xstats,{port}", xstat)


def _counts(column: object) -> list[int]:
    counts = [each for each in column if _is_count(each)] if isinstance(column, list) else []
    return counts if isinstance(column, list) and len(counts) == len(column) else []


def _is_name(value: object) -> TypeGuard[str]:
    """Whether it may be sent and recorded: what reads bytes from others takes no surrogates."""
    return isinstance(value, str) and value.isprintable() and 0 < len(value) <= _LONGEST_NAME


def _is_count(value: object) -> TypeGuard[int]:
    """Whether it is a whole number that could count something; JSON's true is not."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
