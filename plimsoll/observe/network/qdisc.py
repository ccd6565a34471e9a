"""What queueing disciplines sent, dropped and held back, by rtnetlink."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from plimsoll.host.namespaces.netlink import QDISCS, attributes
from plimsoll.observe.network.watched_namespace import (
    NamespaceObserver,
    NamespaceReader,
    WatchedNamespace,
)
from plimsoll.observe.procfs.per_cpu_table import continued
from plimsoll.observe.reading.host_files import printable
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.samples.metric_type import MetricType


def _rate(kind: str) -> MetricType:
    return MetricType("qdisc", kind, "count", "1/s", "sum", counted=True, carried=True)


_COUNTED = (
    _rate("packets-sec"),
    _rate("drops-sec"),
    _rate("requeues-sec"),
    _rate("overlimits-sec"),
)
_BACKLOG = MetricType("qdisc", "backlog-packets", "count", "packets", "sum", carried=True)
# struct tcmsg: family, padding, index, handle, parent, info.
_HEAD = struct.Struct("=BxxxiIII")
# TCA_KIND and TCA_STATS2; in that, TCA_STATS_BASIC (bytes, packets) and TCA_STATS_QUEUE (length
# in packets, in bytes, drops, requeues, overlimits).
_KIND, _STATS, _BASIC, _QUEUE = 1, 7, 1, 3
_BASIC_FIELDS, _QUEUE_FIELDS = struct.Struct("=QI"), struct.Struct("=5I")
# It has no queue and counts nothing, and most virtual interfaces have it.
_NO_QUEUE = b"noqueue"


class _Namespace(NamespaceReader):
    def __init__(self, watched: WatchedNamespace) -> None:
        super().__init__(watched)
        self._known: dict[tuple[int, int, bytes], _Series] = {}

    def read(self, readings: Readings) -> int:
        """How many there are."""
        bodies = list(self._route.ask(QDISCS, _HEAD.pack(0, 0, 0, 0, 0)))
        found = dict(filter(None, map(read_qdisc, bodies)))
        for gone in self._known.keys() - found.keys():
            self._known.pop(gone).forget(readings)
        for key, figures in found.items():
            if key not in self._known:
                self._known[key] = _Series(self._names_of(key), readings)
            self._known[key].tell(figures, readings)
        return len(found)

    def _names_of(self, key: tuple[int, int, bytes]) -> Mapping[str, str]:
        index, handle, kind = key
        name = self._interfaces.of(index)
        return {**self._names, "dev": name, "kind": printable(kind), "handle": f"{handle >> 16:x}:"}


class Qdisc(NamespaceObserver):
    """Each discipline by `dev`, `kind` and `handle`; `netns` where it is in a lab's namespace.

    One that is part of another counts what that counts, too: break out by `handle`.
    """

    source = "qdisc"
    summary = "packets, drops and backlog of queueing disciplines, by rtnetlink"
    reader = _Namespace
    types = (*_COUNTED, _BACKLOG)
    nothing = "no interface has a queueing discipline that queues"


def read_qdisc(body: bytes) -> tuple[tuple[int, int, bytes], tuple[int, ...]] | None:
    """Interface, handle and kind; packets, drops, requeues, overlimits, backlog in packets.

    None for one that has no queue, or says nothing.
    """
    _, index, handle, _, _ = _HEAD.unpack_from(body)
    known = attributes(body, _HEAD.size)
    kind = known.get(_KIND, b"").rstrip(b"\0")
    stats = attributes(known.get(_STATS, b""), 0)
    if kind == _NO_QUEUE or _BASIC not in stats or _QUEUE not in stats:
        return None
    _, packets = _BASIC_FIELDS.unpack_from(stats[_BASIC])
    backlog, _, drops, requeues, overlimits = _QUEUE_FIELDS.unpack_from(stats[_QUEUE])
    return (index, handle, kind), (packets, drops, requeues, overlimits, backlog)


class _Series:
    """One discipline's; its counters are of 32 bits and may wrap."""

    def __init__(self, names: Mapping[str, str], readings: Readings) -> None:
        self._counted = [readings.series(metric, names) for metric in _COUNTED]
        self._backlog = readings.series(_BACKLOG, names)
        self._totals: list[int] | None = None

    def tell(self, figures: tuple[int, ...], readings: Readings) -> None:
        *counts, backlog = figures
        before = self._totals or counts
        self._totals = [
            continued(total, count) for total, count in zip(before, counts, strict=True)
        ]
        for series, total in zip(self._counted, self._totals, strict=True):
            readings.total(series, total)
        readings.value(self._backlog, backlog)

    def forget(self, readings: Readings) -> None:
        for series in (*self._counted, self._backlog):
            readings.absent(series)


OBSERVER = Qdisc
