"""What XDP programs of Plimsoll's own decided, from their maps."""

from __future__ import annotations

import socket

from plimsoll.errors import MachineError
from plimsoll.host.bpf.xdp_redirect import ACTIONS, XdpCounts
from plimsoll.observe.network.watched_namespace import WatchedNamespace, watched_namespaces
from plimsoll.observe.reading.host_files import printable
from plimsoll.observe.reading.observer import NotObservable, ObservedHost, Observer
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.samples.metric_type import MetricType

_ACTIONS = MetricType("xdp", "actions-sec", "throughput", "pps", "sum", counted=True, carried=True)


class Xdp(Observer):
    """Frames by `dev`, on which the program is, and `action`.

    The kernel itself does not count what programs decide, so others' are not seen.
    """

    source = "xdp"
    summary = "frames by the action of the lab's XDP programs, from their maps"
    types = (_ACTIONS,)

    def __init__(self, host: ObservedHost, readings: Readings) -> None:
        try:
            found = [_programs(each) for each in watched_namespaces(host.observation)]
        except MachineError as error:
            raise NotObservable(str(error)) from error
        self._programs = [
            (counts, _series(names, readings)) for some in found for names, counts in some
        ]
        if not self._programs:
            raise NotObservable("no interface has an XDP program of Plimsoll's")

    def read(self, readings: Readings) -> None:
        """Tell what each has decided since."""
        for counts, series in self._programs:
            try:
                decided = counts.read()
            except MachineError as error:
                raise OSError(str(error)) from error
            for action, count in decided.items():
                readings.total(series[action], count)


def _programs(watched: WatchedNamespace) -> list[tuple[dict[str, str], XdpCounts]]:
    def find() -> list[tuple[str, XdpCounts]]:
        each = ((name, XdpCounts.of_interface(index)) for index, name in socket.if_nameindex())
        return [(name, counts) for name, counts in each if counts is not None]

    found = watched.run(find)
    return [({**watched.names, "dev": printable(name.encode())}, counts) for name, counts in found]


def _series(names: dict[str, str], readings: Readings) -> dict[str, int]:
    return {action: readings.series(_ACTIONS, {**names, "action": action}) for action in ACTIONS}


OBSERVER = Xdp
