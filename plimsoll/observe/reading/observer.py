"""What an observer is: something that reads one source of a host's figures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

from plimsoll.observe.reading.host_files import HostFiles
from plimsoll.observe.reading.observation import Observation
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.samples.metric_type import MetricType


@dataclass(frozen=True, slots=True)
class ObservedHost:
    """The host that is read, and what is to be observed."""

    files: HostFiles = field(default_factory=HostFiles)
    observation: Observation = field(default_factory=Observation)


class NotObservable(Exception):
    """A host has not what an observer reads; the message says what, and what would help."""


class Observer(ABC):
    """Reads one source or a part of it, for one period. A subclass is listed in registry.py.

    It is made anew for each period, when the host's CPUs, devices and files are found. That
    raises NotObservable where there is nothing to read on this host.

    It runs alongside polling loops, every second or faster: files are held open (RereadFile),
    unchanged lines are not parsed, and unchanged values are not written.
    """

    source: ClassVar[str]
    # What it reads of the source, where others read the rest.
    part: ClassVar[str] = ""
    # For people: what it reads, and from where.
    summary: ClassVar[str]
    # Every type it may tell.
    types: ClassVar[tuple[MetricType, ...]]

    @classmethod
    def name(cls) -> str:
        """The source, and the part where it has several: no two observers have the same."""
        return f"{cls.source} {cls.part}".strip()

    @abstractmethod
    def __init__(self, host: ObservedHost, readings: Readings) -> None:
        """Find what is to be read."""

    @abstractmethod
    def read(self, readings: Readings) -> None:
        """Read it once, and tell what has changed.

        OSError and ValueError end this observer for the period, and the record says so;
        what may well go while a trial runs (a CPU, a device, a cgroup) is set `absent`.
        """
