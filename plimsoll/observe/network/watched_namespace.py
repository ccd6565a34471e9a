"""The network namespaces of a host that are read: its own, and those of the labs under test."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeVar

from plimsoll.errors import MachineError
from plimsoll.host.namespaces.netlink import RouteSocket, links
from plimsoll.host.namespaces.network_namespace import run_within
from plimsoll.observe.reading.host_files import printable
from plimsoll.observe.reading.observer import NotObservable, Observation, ObservedHost, Observer
from plimsoll.observe.reading.readings import Readings

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class WatchedNamespace:
    """One namespace; `path` is None for the host's own. `names` are those of its series."""

    names: dict[str, str]
    path: Path | None = None

    def run(self, work: Callable[[], T]) -> T:
        """What `work` returns, done in it. Raises OSError where it cannot be entered."""
        if self.path is None:
            return work()
        try:
            return run_within(self.path, work)
        except MachineError as error:
            raise OSError(str(error)) from error


def watched_namespaces(observation: Observation) -> tuple[WatchedNamespace, ...]:
    """The host's own, whose series have no `netns`, and those of the observation."""
    return (
        WatchedNamespace({}),
        *(
            WatchedNamespace({"netns": name}, Path(path))
            for name, path in observation.namespaces.items()
        ),
    )


class NamespaceReader(ABC):
    """What an observer reads of one namespace, by rtnetlink."""

    def __init__(self, watched: WatchedNamespace) -> None:
        self._names = watched.names
        self._route = watched.run(RouteSocket)
        self._interfaces = InterfaceNames(self._route)

    @abstractmethod
    def read(self, readings: Readings) -> int:
        """Tell the values of all that there is now; how many there are."""


class NamespaceObserver(Observer):
    """Reads all namespaces by one `reader` each; `nothing` says that there was nothing in any."""

    reader: ClassVar[type[NamespaceReader]]
    nothing: ClassVar[str]

    def __init__(self, host: ObservedHost, readings: Readings) -> None:
        self._readers = [self.reader(each) for each in watched_namespaces(host.observation)]
        if not sum(each.read(readings) for each in self._readers):
            raise NotObservable(self.nothing)

    def read(self, readings: Readings) -> None:
        """Tell the values of all that there is now."""
        for each in self._readers:
            each.read(readings)


class InterfaceNames:
    """Interfaces of a socket's namespace by index; listed again when one is not known."""

    def __init__(self, route: RouteSocket) -> None:
        self._route = route
        self._known: dict[int, str] = {}

    def of(self, index: int) -> str:
        """The name; the number where the interface has just gone. Raises OSError."""
        if index not in self._known:
            self._known = {each.number: printable(each.name) for each in links(self._route)}
        return self._known.setdefault(index, str(index))
