"""How many addresses the forwarding databases of bridges hold, by rtnetlink."""

from __future__ import annotations

import struct
from collections import Counter

from plimsoll.host.namespaces.route_socket import NEIGHBOURS, RouteSocket
from plimsoll.observe.network.watched_namespace import (
    InterfaceNames,
    WatchedNamespace,
    watched_namespaces,
)
from plimsoll.observe.reading.observer import NotObservable, ObservedHost, Observer
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


class Bridge(Observer):
    """Entries by port (`dev`) and `kind`: learned, static, or permanent (the ports' own).

    Each reading lists the whole database, some microseconds an entry.
    """

    source = "bridge"
    summary = "entries of bridges' forwarding databases by port, by rtnetlink"
    types = (_ENTRIES,)

    def __init__(self, host: ObservedHost, readings: Readings) -> None:
        self._namespaces = [_Namespace(each) for each in watched_namespaces(host.observation)]
        if not any(each.read(readings) for each in self._namespaces):
            raise NotObservable("no bridge has a port")

    def read(self, readings: Readings) -> None:
        """Tell how many there are now; a kind that a port had and has no more is 0."""
        for each in self._namespaces:
            each.read(readings)


class _Namespace:
    def __init__(self, watched: WatchedNamespace) -> None:
        self._names = watched.names
        self._route = watched.run(RouteSocket)
        self._interfaces = InterfaceNames(self._route)
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


def read_entry(body: bytes) -> tuple[int, str] | None:
    """The port's index and the kind of an entry; None for one that is not a bridge's."""
    family, index, state, flags, _ = _HEAD.unpack_from(body)
    if family != _AF_BRIDGE or flags & _OF_INTERFACE:
        return None
    if state & _PERMANENT:
        return index, "permanent"
    return index, "static" if state & _STATIC else "learned"
