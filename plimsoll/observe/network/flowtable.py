"""Which path the frames of a lab's router took that has a flowtable, by netlink."""

from __future__ import annotations

from pathlib import Path

from plimsoll.host.namespaces.flowtable_counts import FlowtableCounts
from plimsoll.observe.network.watched_namespace import WatchedNamespace, watched_namespaces
from plimsoll.observe.reading.host_files import RereadFile, printable
from plimsoll.observe.reading.observer import NotObservable, ObservedHost, Observer
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.samples.metric_type import MetricType

_FRAMES = MetricType(
    "flowtable", "frames-sec", "throughput", "pps", "sum", counted=True, carried=True
)
_ENTRIES = MetricType("flowtable", "conntrack-entries", "count", "entries", "sum", carried=True)
_PATHS = ("fast", "slow")
# That of the namespace of the thread that opens it, and it stays so.
_ENTRY_COUNT = Path("/proc/sys/net/netfilter/nf_conntrack_count")


class _Namespace:
    """One whose flowtable is a lab's."""

    def __init__(self, watched: WatchedNamespace, readings: Readings) -> None:
        """Open what is read. Raises OSError where there is no nftables, or no conntrack."""
        self._counts = watched.run(FlowtableCounts)
        self.interfaces = tuple(self._counts.read())
        if not self.interfaces:
            return
        self._entry_count = watched.run(lambda: RereadFile(_ENTRY_COUNT))
        self._entries = readings.series(_ENTRIES, watched.names)
        self._series = {
            (name, path): readings.series(
                _FRAMES, {**watched.names, "dev": printable(name.encode()), "path": path}
            )
            for name in self.interfaces
            for path in _PATHS
        }
        self._fast: dict[str, int] = dict.fromkeys(self.interfaces, 0)

    def read(self, readings: Readings) -> None:
        for name, counts in self._counts.read().items():
            # Between frames it may be short by some, and does not go back for that.
            self._fast[name] = max(self._fast[name], counts.fast)
            readings.total(self._series[name, "fast"], self._fast[name])
            readings.total(self._series[name, "slow"], counts.slow)
        readings.value(self._entries, self._entry_count.read_int())


class FlowtableObserver(Observer):
    """Frames by `dev`, at which they came, and `path`: fast, or slow; and conntrack's entries.

    Other flowtables do not count so, and are not seen.
    """

    source = "flowtable"
    summary = "frames of the lab's router by flowtable or slow path, by netlink"
    types = (_FRAMES, _ENTRIES)

    def __init__(self, host: ObservedHost, readings: Readings) -> None:
        # The host's own namespace has no table of a lab's.
        _, *labs = watched_namespaces(host.observation)
        self._namespaces = [found for each in labs if (found := _found(each, readings))]
        if not self._namespaces:
            raise NotObservable("no router of a lab's has a flowtable")

    def read(self, readings: Readings) -> None:
        """Tell what took which path since."""
        for each in self._namespaces:
            each.read(readings)


def _found(watched: WatchedNamespace, readings: Readings) -> _Namespace | None:
    try:
        found = _Namespace(watched, readings)
    except OSError:
        return None
    return found if found.interfaces else None


OBSERVER = FlowtableObserver
