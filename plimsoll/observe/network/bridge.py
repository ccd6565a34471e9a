"""How many addresses the forwarding databases of bridges hold, by rtnetlink."""

from __future__ import annotations

import struct
from collections import Counter

from plimsoll.host.namespaces.netlink import NEIGHBOURS
from plimsoll.observe.network.watched_namespace import (
    NamespaceObserver,
    NamespaceReader,
    WatchedNamespace,
)
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.samples.metric_type import MetricType

_ENTRIES = MetricType("bridge", "fdb-entries", "count", "entries", "sum", carried=True)
# struct ndmsg: family, padding, index, state, flags, type.
_HEAD = struct.Struct("=BxxxiHBB")
_AF_BRIDGE = 7
# NTF_SELF: an address of the interface itself, not of a bridge's database.
_OF_INTERFACE = 0x02
# NUD_PERMANENT: a port's own address. NUD_NOARP: set by hand.
_PERMANENT, _STATIC = 0x80, 0x40


class _Namespace(NamespaceReader):
    def __init__(self, watched: WatchedNamespace) -> None:
        super().__init__(watched)
        self._series: dict[tuple[int, str], int] = {}

    def read(self, readings: Readings) -> int:
        """How many entries there are."""
        bodies = self._route.ask(NEIGHBOURS, _HEAD.pack(_AF_BRIDGE, 0, 0, 0, 0))
        counts = Counter(entry for body in bodies if (entry := read_entry(body)))
        for index, kind in [key for key in counts if key not in self._series]:
            names = {**self._names, "dev": self._interfaces.of(index), "kind": kind}
            self._series[index, kind] = readings.series(_ENTRIES, names)
        for key, series in self._series.items():
            readings.value(series, counts[key])
        return counts.total()


class Bridge(NamespaceObserver):
    """Entries by port (`dev`) and `kind`: learned, static, or permanent (the ports' own).

    Each reading lists the whole database, some microseconds an entry.
    """

    source = "bridge"
    summary = "entries of bridges' forwarding databases by port, by rtnetlink"
    reader = _Namespace
    types = (_ENTRIES,)
    nothing = "no bridge has a port"


def read_entry(body: bytes) -> tuple[int, str] | None:
    """The port's index and the kind of an entry; None for one that is not a bridge's."""
    family, index, state, flags, _ = _HEAD.unpack_from(body)
    if family != _AF_BRIDGE or flags & _OF_INTERFACE:
        return None
    if state & _PERMANENT:
        return index, "permanent"
    return index, "static" if state & _STATIC else "learned"


OBSERVER = Bridge
